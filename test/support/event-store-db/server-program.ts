import { parseArgs } from 'node:util'
import { startEventStoreDbServer } from './server.ts'

/**
 * The server as a process of its own, so that tests can kill it: `--file` keeps its data, `--port`
 * is where the next one has to be found again. Prints its URL once it answers.
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
