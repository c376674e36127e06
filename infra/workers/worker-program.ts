import { loadServerPrograms } from '../server-bundle/load-server-programs.ts'

/** The program of a worker process. */
const { runWorker } = await loadServerPrograms()
await runWorker()
