import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { JournalEntry } from '#infra/demo/received-requests.ts'
import { firstLine, spawnNode } from './child-process.ts'
import { ProductProcess } from './product-process.ts'
import { siteDatabase } from './site-database.ts'

/**
 * A site with several processes, which share a database and a secret key. Closing the site ends the
 * processes.
 */
export type Site = {
  readonly environment: { readonly DATABASE_URL: string; readonly SECRET_KEY: string }
  readonly start: (roles: string, more?: Record<string, string>) => Promise<ProductProcess>
  readonly close: () => Promise<void>
}

export const SHORT_LEASES = preloading('short-call-leases.ts')

export const FAST_JOINT_APPEND_RECOVERY = preloading('fast-joint-append-recovery.ts')

export const CLOCK_FIVE_MINUTES_BEHIND = preloading('clock-five-minutes-behind.ts')

/** Loads a file of this folder before the program. */
function preloading(file: string): string {
  return `--import=${join(import.meta.dirname, file)}`
}

export async function startSite(): Promise<Site> {
  const database = await siteDatabase()
  const environment = {
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
  }
  const processes: ProductProcess[] = []
  return {
    environment,
    start: async (roles, more = {}) => {
      const created = await ProductProcess.create({ ...environment, ROLES: roles, ...more })
      processes.push(created)
      await created.start()
      return created
    },
    close: async () => {
      for (const running of processes) await running.close()
      await database.drop()
    },
  }
}

export type ProviderProcess = {
  readonly url: string
  readonly journal: () => Promise<JournalEntry[]>
  readonly close: () => void
}

type Pace = { readonly gapMs: number; readonly answerTokens: number; readonly firstByteMs: number }

/** The simulated provider keeps running when tests kill product processes. */
export async function startProviderProcess(pace: Pace): Promise<ProviderProcess> {
  const { gapMs, answerTokens, firstByteMs } = pace
  const parameters = [0, gapMs, answerTokens, firstByteMs].map(String)
  const child = spawnNode('infra/demo/run-simulated-provider.ts', ...parameters)
  const url = await firstLine(child)
  return {
    url,
    journal: async () => (await (await fetch(`${url}/journal`)).json()) as JournalEntry[],
    close: () => void child.kill('SIGKILL'),
  }
}
