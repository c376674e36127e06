import { vi } from 'vitest'
import { runAuditProgram } from '#infra/audit-program/audit-program.ts'
import type { Config } from '#infra/config/config.ts'

/** The environment in which the audit program finds the site that has this configuration. */
export const environmentOf = ({
  databaseUrl,
  secretKey,
}: Pick<Config, 'databaseUrl' | 'secretKey'>) => ({
  ...{ DATABASE_URL: databaseUrl ?? '', LOG_LEVEL: 'silent' },
  SECRET_KEY: Buffer.from(secretKey ?? []).toString('base64'),
})

/**
 * Runs a verb of the audit program in this process. A process that starts costs more than most
 * verbs.
 */
export async function runVerb(args: readonly string[], environment: NodeJS.ProcessEnv) {
  const spies = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')]
  for (const spy of spies) spy.mockReturnValue(true)
  try {
    const status = await runAuditProgram(args, environment, new AbortController().signal)
    const [output, errors] = spies.map(({ mock }) => mock.calls.map(([part]) => part).join(''))
    return { status, output: output ?? '', errors: errors ?? '' }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
