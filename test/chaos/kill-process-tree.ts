import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { killTree } from '../support/process-tree.ts'

/**
 * Kills the product's process tree repeatedly with SIGKILL. Parameters: FOLDER KILLS MIN_MS MAX_MS.
 * FOLDER/product.pid has the pid while the product serves. FOLDER/kills.log gets a line per kill.
 */
const [folder = '', kills = '1', minMs = '800', maxMs = '2500'] = process.argv.slice(2)
const pidFile = `${folder}/product.pid`

const sleep = (ms: number) => new Promise((resume) => setTimeout(resume, ms))

for (let kill = 1; kill <= Number(kills); kill += 1) {
  while (!existsSync(pidFile)) await sleep(10)
  await sleep(Number(minMs) + Math.random() * (Number(maxMs) - Number(minMs)))
  const pid = Number(readFileSync(pidFile, 'utf8'))
  const killed = killTree(pid)
  appendFileSync(`${folder}/kills.log`, `${kill} ${killed} ${Date.now()}\n`)
  while (existsSync(pidFile)) await sleep(5)
}
