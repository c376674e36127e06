import { installAgents } from './installed-agents.ts'

/** Installs the coding agents before the tests, so that no test waits for it. Never fails. */
const found = await installAgents()
console.log('bin' in found ? `coding agents are in ${found.bin}` : `no agents: ${found.missing}`)
