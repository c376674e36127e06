import { randomUUID } from 'node:crypto'
import { auditJobsDecider } from '#domain/audit/decide-audit-jobs.ts'
import type { RefusedCosignature } from '#domain/audit/decide-witness-refusals.ts'
import {
  AUDIT_JOBS_STREAM,
  type RefusalAcknowledged,
  type WitnessRefused,
} from '#domain/audit/events.ts'
import { type Findings, WITNESS_CHECK } from '#domain/audit/findings.ts'
import type { Core } from '../core-dependencies.ts'
import {
  listCheckpoints,
  MissingHash,
  storedTree,
} from '../transparency-log/read-checkpoints-and-tiles.ts'
import { eventOf, type StoredRecord } from './stored-record.ts'
import type { RecordReader } from './stored-record-reader.ts'

export type RefusedCheckpoint = Omit<WitnessRefused['data'], 'id' | 'refusedAt'>

type RecordDeps = Pick<Core, 'actors' | 'now' | 'pg' | 'vault'>

/**
 * Records as an event that a witness refused a checkpoint, because the witness has signed a
 * different history. The admins are notified of the event, and each later verification reports the
 * refusal. A line in the log file alone could be lost. While the refused history only grows, later
 * refusals of it are not recorded again. If the log no longer begins with the refused tree, the
 * next refusal is recorded as a new one.
 */
export async function recordRefusedCosignature(
  deps: RecordDeps,
  refused: RefusedCheckpoint,
): Promise<void> {
  const { actors, now } = deps
  const at = now()
  const earlier = await actors.ask(auditJobsDecider, AUDIT_JOBS_STREAM, ({ refusals }) =>
    refusals.filter(({ witness, size }) => witness === refused.witness && size === refused.size),
  )
  const command = {
    ...({ type: 'RecordRefusedCosignature', id: randomUUID() } as const),
    ...{ ...refused, refusedAt: at, continued: await continuedBy(deps, earlier, refused) },
  }
  const context = { actor: 'system:audit', cause: null, at }
  await actors.handle(auditJobsDecider, AUDIT_JOBS_STREAM, command, context)
}

/**
 * Returns the ids of those earlier refusals (`refusals`) whose histories the refused checkpoint
 * continues. The checkpoint's tree must begin with the tree of the refusal, and with the last tree
 * that was remembered for the refusal. A larger tree that meets these conditions is then remembered
 * instead of the earlier one. Without the remembered tree, nobody would notice if events after the
 * tree of an acknowledged refusal were rewritten.
 */
async function continuedBy(
  { pg, vault }: RecordDeps,
  refusals: readonly RefusedCosignature[],
  refused: RefusedCheckpoint,
): Promise<string[]> {
  const [latest] = await listCheckpoints(pg, 1)
  const tree = storedTree(pg)
  const isPartOfLog = async ({ size, root }: RefusedTree): Promise<boolean> => {
    if (size > (latest?.size ?? 0)) return false
    const stored = await tree.root(size).catch((error: unknown) => {
      // Without the lost tile, the root cannot be computed, so the refusal counts as a new one. The
      // admins are then notified, and the lost tile does not prevent the recording of the refusal.
      if (error instanceof MissingHash) return null
      throw error
    })
    return stored?.toString('base64') === root
  }
  const { refusedSize, refusedRoot = '' } = refused
  const shown = { size: refusedSize, root: refusedRoot }
  const continued: string[] = []
  for (const { id, refusedSize: size, refusedRoot: root } of refusals) {
    if (root === undefined) continue
    const remembered = await readRefusedTree({ pg, vault }, id)
    if (remembered === 'changed') continue
    const trees = [{ size, root }, remembered ?? shown, shown]
    const areParts = await Promise.all(trees.map(isPartOfLog))
    if (areParts.includes(false)) continue
    continued.push(id)
    if (refusedSize > Math.max(size, remembered?.size ?? 0)) {
      await rememberRefusedTree({ pg, vault }, id, shown)
    }
  }
  return continued
}

type RefusedTree = { readonly size: number; readonly root: string }

/**
 * Returns the last tree that was remembered for a refusal, or null if none was. Returns `changed`
 * if the MAC shows that this site did not write the row.
 */
async function readRefusedTree(
  { pg, vault }: Pick<RecordDeps, 'pg' | 'vault'>,
  id: string,
): Promise<RefusedTree | 'changed' | null> {
  const { rows } = await pg.query<{ size: string; root: string; mac: string }>(
    'select size, root, mac from transparency_log.refused_trees where refusal_id = $1',
    [id],
  )
  const [row] = rows
  if (row === undefined) return null
  const tree = { size: Number(row.size), root: row.root }
  return macOf(vault, id, tree) === row.mac ? tree : 'changed'
}

async function rememberRefusedTree(
  { pg, vault }: Pick<RecordDeps, 'pg' | 'vault'>,
  id: string,
  tree: RefusedTree,
): Promise<void> {
  await pg.query(
    `insert into transparency_log.refused_trees as known (refusal_id, size, root, mac)
      values ($1, $2, $3, $4)
      on conflict (refusal_id) do update
        set size = excluded.size, root = excluded.root, mac = excluded.mac
        where known.size < excluded.size`,
    [id, tree.size, tree.root, macOf(vault, id, tree)],
  )
}

const macOf = (vault: RecordDeps['vault'], id: string, { size, root }: RefusedTree): string =>
  vault.keyedHash('audit-state', `refused-tree ${id} ${size} ${root}`)

const RECORDS_PAGE = 1_000

/**
 * Reports each recorded refusal of a witness to sign this history. A refusal that an admin has
 * acknowledged is listed, but not counted. The refusals are read from their own stream, because an
 * incremental verification does not read old events again.
 */
export async function reportRefusals(records: RecordReader, findings: Findings): Promise<void> {
  const refused: StoredRecord[] = []
  const acknowledged = new Set<string>()
  let page: readonly StoredRecord[] = []
  let from = 0
  do {
    page = await records.readStream(AUDIT_JOBS_STREAM, from, RECORDS_PAGE)
    from = (page.at(-1)?.revision ?? 0) + 1
    for (const record of page) {
      if (record.type === 'WitnessRefused') refused.push(record)
      if (record.type !== 'RefusalAcknowledged') continue
      const { id = '' } = dataOf<RefusalAcknowledged>(record) ?? {}
      acknowledged.add(id)
    }
  } while (page.length === RECORDS_PAGE)
  for (const record of refused) reportOne(record, acknowledged, findings)
}

function reportOne(
  record: StoredRecord,
  acknowledged: ReadonlySet<string>,
  findings: Findings,
): void {
  const refusal = dataOf<WitnessRefused>(record)
  if (refusal === null) {
    findings.expect(WITNESS_CHECK, false, record, 'WitnessUnreadable')
    return
  }
  const { id, witness, size } = refusal
  const params = { witness, size }
  if (acknowledged.has(id)) {
    findings.acknowledged(WITNESS_CHECK, record, { code: 'WitnessAcknowledged', params })
  } else findings.expect(WITNESS_CHECK, false, record, 'WitnessRefused', () => params)
}

/** Returns the data of an event, or null if the stored text was changed and is no longer JSON. */
function dataOf<Event extends { readonly data: object }>(
  record: StoredRecord,
): Event['data'] | null {
  try {
    return eventOf(record).data as Event['data']
  } catch {
    return null
  }
}
