import { Pool } from 'pg'
import { channelsDecider } from '#domain/channels/decide.ts'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { readConfig } from '#infra/config/read-config.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { startCore } from '#infra/start-core.ts'
import { createVault } from '#infra/vault/vault.ts'
import { PROJECTIONS } from '#projections/projection-registry.ts'
import { rebuildReadModels } from '#projections/runner/rebuild-read-model.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { accepted, type Deps } from '#write-api/action.ts'
import { storeChannelKeys } from '#write-api/channels/channel-keys-in-vault.ts'
import { createTokens } from '#write-api/tokens/create-token.ts'
import { INITIAL_TERMS } from '#write-api/tokens/token-terms-from-request.ts'
import { createUserAccount } from '#write-api/users/create-user-account.ts'
import { appendPastCalls, HISTORY_DAYS, type Owner } from './append-past-calls.ts'
import { createMonths, withoutLogIndexes } from './generate-log-rows.ts'

export type HistorySize = {
  readonly users: number
  readonly tokens: number
  readonly channels: number
  readonly events: number
  readonly logRows: number
}

type Site = {
  readonly databaseUrl: string
  /** In base64. */
  readonly secretKey: string
  readonly providerUrl: string
}

/** The model of the measured calls, which every channel serves. */
export const MODEL = 'sim-small'
const CHANNELS_PER_EVENT = 100
const OTHER_MODELS = 19
const QUOTA = 10n ** 12n
const FIRST_USER = 2
/** The number of users whose events share commits. */
const USERS_AT_ONCE = 50

/**
 * Gives a site that was set up and is stopped a history, and returns an API key of each user.
 *
 * The site's own code creates users, tokens with their keys, and channels. All channels serve the
 * model of the measured calls and 19 others of their hundred. The rest of the events are
 * admissions and settlements of calls in the last 30 days, which the account's decider decides.
 * They are copied into the store's tables in the order of their times. Accounts get snapshots when
 * the product would have saved them. The read models are built from the events by the product's
 * rebuild. If the log then has too few rows, its rows are repeated for earlier months. These
 * earlier rows have no events and no sums in the other read models. Logins, corrections, tasks,
 * top-ups and changes of options do not occur. The transparency log is not built here, because the
 * product seals all events when it starts.
 */
export async function generateHistory(
  site: Site,
  size: HistorySize,
  note: (step: string) => void,
): Promise<string[]> {
  const config = readConfig({
    ...{ DATABASE_URL: site.databaseUrl, SECRET_KEY: site.secretKey, LOG_LEVEL: 'error' },
  })
  const objects = await startCore(config)
  const keys: string[] = []
  try {
    const owners = await createOwners(objects.core, site, size, keys)
    note('users and tokens')
    await createChannels(objects.core, site.providerUrl, size.channels)
    await appendPastCalls(objects.core, owners, { ...size, note })
  } finally {
    await objects.close()
  }
  note('events')
  const readModels = await startCore(config)
  try {
    await rebuildReadModels(readModels.core, PROJECTIONS, foldContext(readModels.core))
    note('read models')
    await repeatLogRows(readModels.core, size.logRows)
    note('log rows')
    // A site that has grown was vacuumed and analyzed by Postgres.
    const client = await readModels.core.pg.connect()
    await client.query('vacuum analyze')
    await client.query('checkpoint')
    client.release(true)
    note('vacuum')
  } finally {
    await readModels.close()
  }
  return keys
}

const contextNow = () => ({ actor: 'user:1', cause: null, at: Date.now() })

async function createOwners(
  core: Core,
  { databaseUrl, secretKey }: Site,
  { users, tokens }: HistorySize,
  keys: string[],
): Promise<Owner[]> {
  // Each key is one commit, which need not be durable before the next one.
  const pg = new Pool({
    ...{ connectionString: databaseUrl, options: '-c synchronous_commit=off', max: 8 },
  })
  const vault = await createVault({ pg, secretKey: Buffer.from(secretKey, 'base64') })
  const each = Math.max(1, Math.floor(tokens / users))
  const userIds = Array.from({ length: users }, (_, index) => FIRST_USER + index)
  const owners: Owner[] = []
  try {
    for (let first = 0; first < users; first += USERS_AT_ONCE) {
      const some = userIds.slice(first, first + USERS_AT_ONCE)
      await Promise.all(some.map((userId) => createUser({ ...core, vault }, userId)))
    }
    for (const userId of userIds) {
      const created = await createTokensOf({ ...core, vault }, userId, each)
      const clientIp = await vault.seal(userId, '203.0.113.7')
      owners.push({ userId, tokenIds: created.ids, clientIp })
      keys.push(`sk-${created.keys[0]}`)
    }
  } finally {
    await pg.end()
  }
  return owners
}

async function createUser(core: Core, userId: number): Promise<void> {
  const deps: Pick<Deps, 'core' | 'nextIds'> = {
    core,
    nextIds: async (_kind, create) => ({ id: userId, outcome: await create(userId) }),
  }
  const user = {
    username: `user-${userId}`,
    displayName: `User ${userId}`,
    password: null,
    role: 1,
    quota: QUOTA,
    reason: 'new-user',
  } as const
  accepted((await createUserAccount(deps as Deps, user, contextNow())).outcome)
}

function createTokensOf(core: Core, userId: number, count: number) {
  const names = Array.from({ length: count }, (_, index) => `token-${index}`)
  const batch = { names, terms: INITIAL_TERMS, budget: { remain: 0n, isUnlimited: true } }
  const runExclusive: Deps['runExclusive'] = (_name, work) => work()
  return createTokens({ core, runExclusive }, userId, batch, contextNow())
}

async function createChannels(core: Core, providerUrl: string, count: number): Promise<void> {
  for (let first = 1; first <= count; first += CHANNELS_PER_EVENT) {
    const ids = Array.from(
      { length: Math.min(CHANNELS_PER_EVENT, count - first + 1) },
      (_, index) => first + index,
    )
    const others = Array.from({ length: OTHER_MODELS }, (_, index) => `model-${first + index}`)
    const terms = {
      ...{ ...PLAIN_CHANNEL_TERMS, type: 1, baseUrl: providerUrl, groups: ['default'] },
      ...{ models: [MODEL, ...others], name: '' },
    }
    const channels = await Promise.all(
      ids.map(async (channelId) => {
        const keyRefs = await storeChannelKeys(core.vault, channelId, [`sk-provider-${channelId}`])
        return { channelId, name: `Channel ${channelId}`, keyRefs }
      }),
    )
    const command = {
      type: 'CreateChannels',
      terms,
      channels,
      keyMode: '',
      isEnabled: true,
    } as const
    const context = contextNow()
    accepted(await core.actors.handle(channelsDecider, CHANNELS_STREAM, command, context))
  }
}

/** Repeats the rows of the log for earlier months, until it has the wanted number of rows. */
async function repeatLogRows({ pg }: Core, wanted: number): Promise<void> {
  const client = await pg.connect()
  try {
    const { rows: counts } = await client.query<{ rows: number; first: number; last: number }>(
      `select count(*)::float8 as rows, coalesce(min(created_at), 0)::float8 as first,
         coalesce(max(id), 0)::float8 as last from read_call_log.log where type in (2, 6)`,
    )
    const { rows: found = 0, first = 0, last = 0 } = counts[0] ?? {}
    if (found === 0 || found >= wanted) return
    const { rows: columns } = await client.query<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_schema = 'read_call_log' and table_name = 'log' order by ordinal_position`,
    )
    const names = columns.map(({ name }) => name)
    const seconds = HISTORY_DAYS * 86_400
    const copies = Math.ceil((wanted - found) / found)
    await createMonths(client, first - copies * seconds, first)
    await client.query(`set synchronous_commit = off; set maintenance_work_mem = '1GB'`)
    await withoutLogIndexes(client, async () => {
      for (let copy = 1; copy <= copies; copy += 1) {
        const changed: Record<string, string> = {
          id: `id - ${copy * last}`,
          created_at: `created_at - ${copy * seconds}`,
          request_id: `request_id || '-${copy}'`,
        }
        await client.query(
          `insert into read_call_log.log (${names.join(', ')})
           select ${names.map((name) => changed[name] ?? name).join(', ')} from read_call_log.log
           where type in (2, 6) and id > 0 limit $1`,
          [wanted - found * copy],
        )
      }
    })
  } finally {
    client.release(true)
  }
}
