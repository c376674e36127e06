import {
  isSignedBy,
  parseSignedCheckpoint,
  parseVerifierKey,
} from '#infra/audit-program/signed-checkpoint.ts'
import { eventOf, leafHash, type StoredRecord } from '#infra/audit-program/stored-record.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { ensureLogSchema } from '#infra/transparency-log/open-log.ts'
import { proveEvents, SealedEventChanged } from '#infra/transparency-log/prove-events.ts'
import {
  type LogCheckpoint,
  listCheckpoints,
  storedTree,
} from '#infra/transparency-log/read-log.ts'
import { SEAL_EVERY_MS } from '#infra/transparency-log/sealer.ts'
import type { Consistency, Receipt } from '../contract/receipts.ts'
import { auditError } from './audit-errors.ts'

type Deps = Pick<Core, 'pg' | 'config' | 'now'>

/** The number of latest checkpoints among which one with enough cosignatures is searched. */
const CHECKPOINTS_SEARCHED = 30

type AnchorCheckpoint = {
  readonly checkpoint: LogCheckpoint
  readonly cosignatures: Receipt['cosignatures']
  readonly isFinal: boolean
}

/**
 * Builds receipts of events. All receipts of one response refer to one checkpoint: the latest that
 * covers the events and has the required cosignatures, or else the latest. `sinceSize` requests the
 * proof that its tree continues an earlier one.
 */
export async function buildReceipts(
  deps: Deps,
  records: readonly StoredRecord[],
  sinceSize: number | null,
): Promise<{ readonly items: Receipt[]; readonly consistency: Consistency | null }> {
  await ensureLogSchema(deps)
  const last = Math.max(0, ...records.map(({ position }) => position))
  const anchor = await chooseCheckpoint(deps, last)
  const consistency = sinceSize === null ? null : await proveConsistency(deps, anchor, sinceSize)
  const expectedAt = Math.ceil((deps.now() + SEAL_EVERY_MS) / 1_000)
  const inclusions = await inclusionsOf(deps, records, anchor)
  const items = records.map((record, index): Receipt => {
    const inclusion = inclusions[index] ?? null
    const isPending = anchor === null || inclusion === null
    return {
      ...{ record, leaf_hash: leafHash(record).toString('base64'), ...balancesOf(record) },
      ...{ is_pending: isPending, expected_at: isPending ? expectedAt : null },
      inclusion: isPending
        ? null
        : {
            ...{ leaf_index: inclusion.index, tree_size: anchor.checkpoint.size },
            hashes: inclusion.path.map((hash) => hash.toString('base64')),
          },
      signed_checkpoint: isPending ? null : anchor.checkpoint.note,
      cosignatures: isPending ? [] : anchor.cosignatures,
      is_final: !isPending && anchor.isFinal,
    }
  })
  return { items, consistency }
}

async function inclusionsOf(
  { pg }: Deps,
  records: readonly StoredRecord[],
  anchor: AnchorCheckpoint | null,
): ReturnType<typeof proveEvents> {
  if (anchor === null) return []
  try {
    return await proveEvents(pg, records, anchor.checkpoint)
  } catch (error) {
    if (!(error instanceof SealedEventChanged)) throw error
    throw auditError('EventChanged', { position: error.position })
  }
}

/** The balances that an event names. Events of earlier versions name none. */
function balancesOf(record: StoredRecord): Pick<Receipt, 'balance_after' | 'held_after'> {
  const { balanceAfter = null, heldAfter = null } = eventOf(record).data as {
    readonly balanceAfter?: number
    readonly heldAfter?: number
  }
  return { balance_after: balanceAfter, held_after: heldAfter }
}

async function chooseCheckpoint(
  { pg, config }: Deps,
  lastPosition: number,
): Promise<AnchorCheckpoint | null> {
  const checkpoints = await listCheckpoints(pg, CHECKPOINTS_SEARCHED)
  const [latest] = checkpoints
  if (latest === undefined) return null
  const { witnesses, quorum } = config.transparencyLog
  const cosigned = (checkpoint: LogCheckpoint): AnchorCheckpoint => {
    const cosignatures = cosignaturesOf(
      checkpoint,
      witnesses.map(({ key }) => key),
    )
    return { checkpoint, cosignatures, isFinal: cosignatures.length >= quorum }
  }
  for (const checkpoint of checkpoints) {
    if (checkpoint.lastPosition < lastPosition) break
    const one = cosigned(checkpoint)
    if (one.isFinal) return one
  }
  return cosigned(latest)
}

/** Lists the witnesses whose signature of the checkpoint is valid. */
function cosignaturesOf({ note }: LogCheckpoint, keys: readonly string[]): Receipt['cosignatures'] {
  if (keys.length === 0) return []
  const checkpoint = parseSignedCheckpoint(note)
  return keys.map(parseVerifierKey).flatMap((key) => {
    const line = checkpoint.signatures.find(({ name, id }) => name === key.name && id === key.id)
    if (line === undefined || !isSignedBy(checkpoint, key)) return []
    return [{ witness: key.name, signed_at: Number(line.bytes.readBigUInt64BE(0)) }]
  })
}

async function proveConsistency(
  { pg }: Deps,
  anchor: AnchorCheckpoint | null,
  sinceSize: number,
): Promise<Consistency> {
  const size = anchor?.checkpoint.size ?? 0
  if (sinceSize > size) throw auditError('SizeInvalid', { field: 'since_size', max: size })
  const hashes = await storedTree(pg).consistencyProof(sinceSize, size)
  const texts = hashes.map((hash) => hash.toString('base64'))
  return { old_size: sinceSize, new_size: size, hashes: texts }
}
