import { parseArgs } from 'node:util'
import { startEventStoreDbServer } from './server.ts'

/**
 * Runs the simulated server as a separate process and prints its URL. `--file` stores its data, and
 * `--port` lets a restarted server use the former port.
 */
const { values } = parseArgs({
  options: { file: { type: 'string' }, port: { type: 'string', default: '0' } },
})
const server = await startEventStoreDbServer({
  port: Number(values.port),
  ...(values.file === undefined ? {} : { file: values.file }),
})
process.stdout.write(`${server.url}\n`)
process.once('SIGTERM', async () => {
  await server.stop()
  server.log.close()
})
