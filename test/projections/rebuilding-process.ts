import { readConfig } from '#infra/config/read-config.ts'
import { startCore } from '#infra/start-core.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import { rebuildReadModels } from '#projections/runner/rebuild-read-model.ts'
import { foldContext } from '#projections/runner/start-projections.ts'

/**
 * Rebuilds all read models until it is killed. It prints a line after each page of events, and
 * `done` after the end of a rebuild. Parameters: the URL of the database and the secret key.
 */
const [, , databaseUrl = '', secretKey = ''] = process.argv
const config = readConfig({
  ...{ DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, LOG_LEVEL: 'silent', PORT: '0' },
})
const { core } = await startCore(config)
for (;;) {
  await rebuildReadModels(core, PROJECTIONS, foldContext(core), {
    onProgress: (done) => process.stdout.write(`${done}\n`),
  })
  process.stdout.write('done\n')
}
