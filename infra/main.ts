import { existsSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { buildMissingBundle, loadServerPrograms } from './server-bundle/load-server-programs.ts'

/** The command of `npm start`. */
if (existsSync('.env')) process.loadEnvFile('.env')
const { runProduct } = await loadServerPrograms()
const running = await runProduct(process.env)
// With `NODE_COMPILE_CACHE`, the compiled code is saved now, because a process that is killed
// later can't save it.
flushCompileCache()
if (running !== null) buildMissingBundle()
