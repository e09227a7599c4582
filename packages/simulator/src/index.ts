/**
 * Outages on a virtual clock: scenarios, runs of the product itself, backtests, reports.
 *
 * @since 0.1.0
 */
export * as Backtest from "./Backtest.js"
export * as Explain from "./Explain.js"
export * as Figure from "./Figure.js"
export * as ReportPage from "./ReportPage.js"
export * as ReportTable from "./ReportTable.js"
export * as RunReport from "./RunReport.js"
export * as Scenario from "./Scenario.js"
export * as Scenarios from "./Scenarios.js"
export * as Script from "./Script.js"
export * as Simulator from "./Simulator.js"
