import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AccountCommand } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { accountSnapshot } from '#domain/accounts/snapshot.ts'
import type { AccountState } from '#domain/accounts/state.ts'
import { isCodedError } from '#domain/shared/coded-error.ts'
import type { Sealed } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { createPostgresSnapshots, type Snapshots } from '#infra/event-store/snapshots.ts'
import { randomUuid, timedUuid } from '#infra/random-uuids.ts'
import { insertRowsWithCopy, readColumnTypes } from '#projections/runner/insert-rows-with-copy.ts'
import type { RowChange } from '#projections/runner/row-changes.ts'
import { callCommands } from '#test/infra/audit-program/consistent-history.ts'

/** The number of days over which the calls are spread. */
export const HISTORY_DAYS = 30
/** The number of events per copy statement. */
const PAGE = 2_000
/** The number of calls after which the connection may send what waits. */
const CALLS_PER_TURN = 100
/** As in `stream-actors.ts`. */
const SNAPSHOT_EVERY = 4_000
const MODELS = 20

export type Owner = {
  readonly userId: number
  readonly tokenIds: readonly number[]
  readonly clientIp: Sealed
}

type Account = Owner & { state: AccountState; revision: number; snapshotRevision: number }

type Options = {
  readonly events: number
  readonly channels: number
  readonly note: (step: string) => void
}

/**
 * Appends admissions and settlements of calls until the store has `events` events, with dense
 * positions and revisions. The calls alternate between the accounts and their tokens. Few channels
 * and models have most of the calls, as on a real site.
 */
export async function appendPastCalls(
  core: Core,
  owners: readonly Owner[],
  { events, channels, note }: Options,
): Promise<void> {
  const snapshots = await createPostgresSnapshots(core)
  const accounts = await loadAccounts(core, owners)
  const writer = await openWriter(core, snapshots)
  try {
    const calls = Math.max(0, Math.ceil((events - writer.position()) / 2))
    const stepMs = (HISTORY_DAYS * 86_400_000) / Math.max(1, calls)
    const start = Date.now() - HISTORY_DAYS * 86_400_000
    for (let index = 0; index < calls; index += 1) {
      const account = accounts[index % accounts.length] as Account
      const at = Math.floor(start + index * stepMs)
      for (const command of pastCall(account, index, at, channels)) {
        writer.append(account, command, at)
      }
      if (index % CALLS_PER_TURN === 0) await writer.send()
      if (index % 500_000 === 499_999) note(`${index + 1} calls`)
    }
    await writer.finish(accounts)
  } finally {
    writer.close()
  }
}

async function loadAccounts({ actors, pg }: Core, owners: readonly Owner[]): Promise<Account[]> {
  const { rows } = await pg.query<{ stream: string; revision: string }>(
    `select stream, revision from event_store.streams where stream like 'account-%'`,
  )
  const revisions = new Map(rows.map(({ stream, revision }) => [stream, Number(revision)]))
  const accounts: Account[] = []
  for (const owner of owners) {
    const stream = accountStream(owner.userId)
    const state = await actors.stateOf(accountDecider, stream)
    accounts.push({
      ...{ ...owner, state, revision: revisions.get(stream) ?? -1, snapshotRevision: -1 },
    })
  }
  return accounts
}

/** Returns a number from 0 to 1, which is small for most indexes. */
const skewed = (index: number, factor: number): number => ((index * factor) % 1) ** 3

const ANSWER = createHash('sha256').update('answer').digest('hex')

function pastCall(
  { userId, tokenIds, clientIp }: Account,
  index: number,
  at: number,
  channels: number,
): AccountCommand[] {
  const channelId = 1 + Math.floor(skewed(index, 0.618_033_988_7) * channels)
  const model = `model-${Math.floor(skewed(index, 0.754_877_666_2) * MODELS)}`
  const evidence = {
    ...{ sentAt: at, hostHash: ANSWER.slice(0, 16), model },
    ...{ sent: { bytes: 1_100, sha256: ANSWER }, received: { bytes: 400, sha256: ANSWER } },
    fingerprint: { id: `chatcmpl-${at}-${index}` },
    usage: '{"prompt_tokens":120,"completion_tokens":20,"total_tokens":140}',
  }
  return callCommands({
    ...{ call: timedUuid(at), userId, model, at, clientIp },
    tokenId: tokenIds[index % tokenIds.length] ?? 0,
    inputTokens: 100 + (index % 50),
    attempt: { channelId, status: 200, error: null, latencyMs: 30 + (index % 900), evidence },
  })
}

type Writer = {
  readonly position: () => number
  readonly append: (account: Account, command: AccountCommand, at: number) => void
  /** Starts to write what fills a page, and lets the connection send it. */
  readonly send: () => Promise<void>
  readonly finish: (accounts: readonly Account[]) => Promise<void>
  readonly close: () => void
}

async function openWriter({ pg, store }: Core, snapshots: Snapshots): Promise<Writer> {
  const client = await pg.connect()
  await client.query('set synchronous_commit = off')
  const table = 'event_store.events'
  const types = await readColumnTypes(client, table)
  let position = await store.headPosition()
  let rows: RowChange[] = []
  let saving: Promise<void>[] = []
  let writing = Promise.resolve()
  const write = async (): Promise<void> => {
    await writing
    await Promise.all(saving)
    saving = []
    writing = insertRowsWithCopy(client, table, types, rows)
    rows = []
  }
  return {
    position: () => position,
    append: (account, command, at) => {
      const facts = accountDecider.decide(command, account.state)
      if (isCodedError(facts)) throw new Error(facts.code)
      const { userId } = account
      const actor = `token:${account.tokenIds[0]}`
      const stream = accountStream(userId)
      for (const fact of facts) {
        const { type, v, data } = fact
        account.state = accountDecider.evolve(account.state, fact)
        account.revision += 1
        position += 1
        const { revision } = account
        const event = { stream, revision, id: randomUuid(), type, v, data: JSON.stringify(data) }
        rows.push({ kind: 'insert', key: { position }, set: { ...event, actor, at }, add: {} })
      }
      if (account.revision - account.snapshotRevision < SNAPSHOT_EVERY) return
      account.snapshotRevision = account.revision
      saving.push(snapshots.save(stream, snapshotOf(account, position)))
    },
    send: async () => {
      if (rows.length >= PAGE) await write()
      await nextTurn()
    },
    finish: async (accounts) => {
      await write()
      await writing
      await client.query('update event_store.head set position = $1', [position])
      await client.query(
        `update event_store.streams s set revision = reached.revision
           from unnest($1::text[], $2::int8[]) reached (stream, revision)
          where s.stream = reached.stream`,
        [
          accounts.map(({ userId }) => accountStream(userId)),
          accounts.map(({ revision }) => revision),
        ],
      )
    },
    close: () => client.release(true),
  }
}

const snapshotOf = ({ state, revision }: Account, position: number) => ({
  ...{ version: accountSnapshot.version, revision, position },
  state: accountSnapshot.encode(state),
})
