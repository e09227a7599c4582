import { projectWithServers } from "../../vitest.shared.js"

export default await projectWithServers("gateway")
