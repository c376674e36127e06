import type { Core } from '../core-dependencies.ts'
import { proveEvents } from '../transparency-log/prove-events.ts'
import {
  type LogCheckpoint,
  listCheckpoints,
  readKeyRotations,
  storedTree,
} from '../transparency-log/read-checkpoints-and-tiles.ts'
import { SEAL_EVERY_MS } from '../transparency-log/sealer.ts'
import { isSignedBy, parseSignedCheckpoint, parseVerifierKey } from './signed-checkpoint.ts'
import { eventOf, leafHash, type StoredRecord } from './stored-record.ts'
import type { ConsistencyProof, Receipt } from './verify-receipts.ts'

type Deps = Pick<Core, 'pg' | 'config' | 'now'>

export type Cosignature = { readonly witness: string; readonly signed_at: number }

/**
 * A receipt as the site issues it. The members that this type adds are ignored when a receipt is
 * verified.
 */
export type IssuedReceipt = Receipt & {
  /**
   * The time in Unix seconds at which the next signed checkpoint is expected, if no signed
   * checkpoint covers the event of the receipt yet. Null if one covers the event.
   */
  readonly expected_at: number | null
  readonly cosignatures: readonly Cosignature[]
  readonly is_final: boolean
}

/** Thrown if a caller asks for a consistency proof from a size that is larger than the tree. */
export class TreeTooSmall extends Error {
  readonly size: number

  constructor(size: number) {
    super(`the tree has only ${size} leaves`)
    this.name = 'TreeTooSmall'
    this.size = size
  }
}

/**
 * `chooseCheckpoints` looks for a checkpoint with enough cosignatures among this number of latest
 * checkpoints. A cosignature is the signature of a witness.
 */
const CHECKPOINTS_SEARCHED = 30

type AnchorCheckpoint = {
  readonly checkpoint: LogCheckpoint
  readonly cosignatures: readonly Cosignature[]
  readonly isFinal: boolean
}

/**
 * Builds receipts. A receipt proves that an event is in the transparency log, or states that the
 * event is not sealed yet. All receipts of `records` refer to one chosen checkpoint: the latest
 * checkpoint that covers these events and has the required signatures of witnesses. If none of the
 * latest `CHECKPOINTS_SEARCHED` checkpoints meets both conditions, the latest checkpoint is chosen.
 * The chosen checkpoint need not cover the events in `later`, because a witnessed checkpoint rarely
 * covers the most recent events. The receipts of `later` come last. If the chosen checkpoint does
 * not cover an event of `later`, the receipt of this event refers to the latest checkpoint. In this
 * case, `later_consistency` proves that the tree of the latest checkpoint extends the tree of the
 * chosen one. If `sinceSize` is given, the response also proves that the log has only grown since
 * it had `sinceSize` events. Throws `SealedEventChanged` or `TreeTooSmall`, or `MissingHash` if a
 * tile of the log is lost.
 */
export async function buildReceipts(
  deps: Deps,
  records: readonly StoredRecord[],
  sinceSize: number | null,
  later: readonly StoredRecord[] = [],
): Promise<{
  readonly items: readonly IssuedReceipt[]
  readonly consistency: ConsistencyProof | null
  readonly later_consistency: ConsistencyProof | null
  readonly key_rotations: readonly string[]
}> {
  const last = Math.max(0, ...records.map(({ position }) => position))
  const { anchor, latest } = await chooseCheckpoints(deps, last)
  const covered = anchor?.checkpoint.lastPosition ?? 0
  const isAfter = ({ position }: StoredRecord): boolean => position > covered
  const after = later.filter(isAfter)
  const consistency = sinceSize === null ? null : await proveConsistency(deps, anchor, sinceSize)
  const items = [
    ...(await prove(deps, [...records, ...later.filter((one) => !isAfter(one))], anchor)),
    ...(await prove(deps, after, latest)),
  ]
  const oldSize = anchor?.checkpoint.size ?? 0
  const isOfLatest = ({ inclusion }: IssuedReceipt): boolean =>
    inclusion !== null && inclusion.tree_size > oldSize
  const laterConsistency = items.some(isOfLatest)
    ? await proveConsistency(deps, latest, oldSize)
    : null
  return {
    ...{ items, consistency, later_consistency: laterConsistency },
    key_rotations: await readKeyRotations(deps.pg),
  }
}

async function prove(
  deps: Deps,
  records: readonly StoredRecord[],
  anchor: AnchorCheckpoint | null,
): Promise<IssuedReceipt[]> {
  const expectedAt = Math.ceil((deps.now() + SEAL_EVERY_MS) / 1_000)
  const inclusions = anchor === null ? [] : await proveEvents(deps.pg, records, anchor.checkpoint)
  return records.map((record, index): IssuedReceipt => {
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
}

/**
 * Returns the account's balances that an event records. A balance is null if the event does not
 * record it, which is the case for old event versions and for events that change no balance.
 */
function balancesOf(record: StoredRecord): Pick<Receipt, 'balance_after' | 'held_after'> {
  const { balanceAfter = null, heldAfter = null } = eventOf(record).data as {
    readonly balanceAfter?: number
    readonly heldAfter?: number
  }
  return { balance_after: balanceAfter, held_after: heldAfter }
}

type Anchors = {
  readonly anchor: AnchorCheckpoint | null
  /** The latest checkpoint, which may lack signatures of witnesses. */
  readonly latest: AnchorCheckpoint | null
}

/**
 * Returns the chosen and the latest checkpoint. The chosen one is the latest checkpoint that covers
 * the position and has enough signatures of witnesses. If no checkpoint meets both conditions, the
 * latest one is chosen.
 */
async function chooseCheckpoints({ pg, config }: Deps, position: number): Promise<Anchors> {
  const checkpoints = await listCheckpoints(pg, CHECKPOINTS_SEARCHED)
  const [newest] = checkpoints
  if (newest === undefined) return { anchor: null, latest: null }
  const cosigned = (checkpoint: LogCheckpoint): AnchorCheckpoint => {
    const cosignatures = cosignaturesOf({ config }, checkpoint.note)
    const isFinal = cosignatures.length >= config.transparencyLog.quorum
    return { checkpoint, cosignatures, isFinal }
  }
  const latest = cosigned(newest)
  for (const checkpoint of checkpoints) {
    if (checkpoint.lastPosition < position) break
    const anchor = cosigned(checkpoint)
    if (anchor.isFinal) return { anchor, latest }
  }
  return { anchor: latest, latest }
}

/**
 * Returns the configured witnesses whose signatures in the note are valid, each with the time of
 * its signature.
 */
export function cosignaturesOf({ config }: Pick<Core, 'config'>, note: string): Cosignature[] {
  const { witnesses } = config.transparencyLog
  if (witnesses.length === 0) return []
  const checkpoint = parseSignedCheckpoint(note)
  return witnesses.flatMap(({ key }) => {
    const parsed = parseVerifierKey(key)
    const signature = checkpoint.signatures.find(
      ({ name, id }) => name === parsed.name && id === parsed.id,
    )
    if (signature === undefined || !isSignedBy(checkpoint, parsed)) return []
    return [{ witness: parsed.name, signed_at: Number(signature.bytes.readBigUInt64BE(0)) }]
  })
}

async function proveConsistency(
  { pg }: Deps,
  anchor: AnchorCheckpoint | null,
  sinceSize: number,
): Promise<ConsistencyProof> {
  const size = anchor?.checkpoint.size ?? 0
  if (sinceSize > size) throw new TreeTooSmall(size)
  const hashes = await storedTree(pg).consistencyProof(sinceSize, size)
  const texts = hashes.map((hash) => hash.toString('base64'))
  return { old_size: sinceSize, new_size: size, hashes: texts }
}
