import { runAuditProgram } from '#infra/audit-program/audit-program.ts'
import type { Config } from '#infra/config/config-types.ts'
import { printedBy } from '#test/support/printed-by.ts'

/** The environment in which the audit program finds the site that has this configuration. */
export const environmentOf = ({
  databaseUrl,
  secretKey,
}: Pick<Config, 'databaseUrl' | 'secretKey'>) => ({
  ...{ DATABASE_URL: databaseUrl ?? '', LOG_LEVEL: 'silent' },
  SECRET_KEY: Buffer.from(secretKey ?? []).toString('base64'),
})

/** Runs a verb of the audit program in this process. */
export const runVerb = (args: readonly string[], environment: NodeJS.ProcessEnv) =>
  printedBy(() => runAuditProgram(args, environment, new AbortController().signal))
