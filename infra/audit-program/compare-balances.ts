import { setTimeout as delay } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import type { Posting } from '#domain/accounts/events.ts'
import type { Findings } from '#domain/audit/findings.ts'
import type { AuditState } from '#domain/audit/state.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { schemaOf } from '#projections/projection-names.ts'
import { type LanePositions, readCheckpoints } from '#projections/runner/checkpoints.ts'
import { readInSnapshot } from '#projections/runner/read-in-snapshot.ts'
import type { Core } from '../core-dependencies.ts'
import { laneOf } from '../event-bus/lane-of-stream.ts'

const FRESH_WITHIN_MS = 30_000
const PAGE = 2_000

type Balance = { balance: bigint; held: bigint; affiliate: bigint }
type Row = { user_id: string; balance: string; held: string; aff_quota: string }

/**
 * Compares each row of the read model `balances` with the balance that the account's events add up
 * to, and reports the users whose rows differ. Returns false without comparing if the read model
 * has not reached the audited events within `withinMs` milliseconds.
 */
export async function compareBalances(
  core: Core,
  state: AuditState,
  findings: Findings,
  withinMs = FRESH_WITHIN_MS,
): Promise<boolean> {
  const read = await readBalances(core, state.position, withinMs)
  if (read === null) return false
  const expected = new Map<string, Balance>()
  for (const [userId, { main, held, affiliate }] of state.balances) {
    expected.set(String(userId), { balance: main ?? 0n, held: held ?? 0n, affiliate })
  }
  await addLaterMovements(core, state.position, read.positions, expected)
  for (const row of read.rows) {
    const stream = `account-${row.user_id}`
    const found = { balance: row.balance, held: row.held, affiliate: row.aff_quota }
    const folded = expected.get(row.user_id) ?? NOTHING
    expected.delete(row.user_id)
    for (const name of ['balance', 'held', 'affiliate'] as const) {
      const isEqual = BigInt(found[name]) === folded[name]
      findings.expect('read-models', isEqual, { stream }, 'BalanceRowDiffers', () => {
        const { user_id: userId } = row
        return { balance: name, userId, found: found[name], expected: folded[name] }
      })
    }
  }
  for (const [userId, { balance, held, affiliate }] of expected) {
    const isEmpty = balance === 0n && held === 0n && affiliate === 0n
    const place = { stream: `account-${userId}` }
    findings.expect('read-models', isEmpty, place, 'BalanceRowMissing', () => ({ userId }))
  }
  return true
}

const ACCOUNTS = `${schemaOf('balances')}.accounts`
const NOTHING: Balance = { balance: 0n, held: 0n, affiliate: 0n }

/**
 * Waits at most `withinMs` milliseconds until the read model `balances` has applied the events of
 * all lanes (the 8 partitions of the streams) up to `position`. Reads the rows and positions of the
 * read model in one database snapshot. Returns null if the read model does not reach the position
 * in time.
 */
async function readBalances(core: Core, position: number, withinMs: number) {
  const read = async (client: PoolClient) => {
    const positions = (await readCheckpoints(client)).get('balances')?.positions ?? []
    if (positions.length === 0 || Math.min(...positions) < position) return null
    const { rows } = await client.query<Row>(
      `select user_id, balance, held, aff_quota from ${ACCOUNTS}`,
    )
    return { positions, rows }
  }
  for (let waitedMs = 0; waitedMs <= withinMs; waitedMs += 100) {
    const found = await readInSnapshot(core.pg, [ACCOUNTS], read)
    if (found !== null) return found
    await delay(100)
  }
  return null
}

async function addLaterMovements(
  core: Core,
  after: number,
  positions: LanePositions,
  balances: Map<string, Balance>,
): Promise<void> {
  const end = Math.max(...positions)
  for (let position = after; position < end; ) {
    const events = await core.store.readAll(position, Math.min(PAGE, end - position))
    for (const event of events) {
      if (event.position <= (positions[laneOf(event.stream)] ?? 0)) addMovement(event, balances)
    }
    const last = events.at(-1)
    if (last === undefined) return
    position = last.position
  }
}

function addMovement({ data }: Recorded, balances: Map<string, Balance>): void {
  const { postings = [] } = data as { postings?: readonly Posting[] }
  for (const [account, amount] of postings) {
    const [kind, userId = '', pocket] = account.split(':')
    if (kind !== 'user') continue
    const balance = balances.get(userId) ?? { ...NOTHING }
    balances.set(userId, balance)
    if (pocket === 'main') balance.balance += BigInt(amount)
    else if (pocket === 'held') balance.held += BigInt(amount)
    else balance.affiliate += BigInt(amount)
  }
}
