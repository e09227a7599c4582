import { render } from "@switchgear/simulator/ReportPage"
import { readFileSync } from "node:fs"
const reports=JSON.parse(readFileSync(`/tmp/rw/brown.json`,"utf8"))
for(let i=0;i<4;i++){console.time("r");render(reports);console.timeEnd("r")}
