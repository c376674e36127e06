import type { Pool } from 'pg'
import {
  isSignedBy,
  parseSignedCheckpoint,
  parseVerifierKey,
  type SignedCheckpoint,
} from '../audit-program/signed-checkpoint.ts'
import { isConsistent } from './merkle-tree.ts'
import type { NoteSigner } from './signed-note.ts'

/** A response of C2SP tlog-witness: its HTTP status, and its text. */
export type WitnessAnswer = { readonly status: number; readonly text: string }

type WitnessDeps = {
  readonly pg: Pool
  readonly witness: NoteSigner
  /** The keys of the logs whose checkpoints this site signs, as `name+hash+key`. */
  readonly keys: readonly string[]
  /** In unix milliseconds. */
  readonly now: () => number
}

const PROOF_HASHES_MAX = 63

type Requested = {
  readonly before: number
  readonly proof: readonly Buffer[]
  readonly checkpoint: SignedCheckpoint
}

/**
 * Signs the checkpoint of another log, if it continues the last one that this witness has signed.
 * The row of the log is locked, so that of two histories only one is ever signed.
 */
export async function witnessCheckpoint(deps: WitnessDeps, text: string): Promise<WitnessAnswer> {
  const requested = parseRequest(text)
  if (requested === null) return { status: 400, text: 'the request is malformed\n' }
  const { checkpoint } = requested
  const keys = deps.keys.map(parseVerifierKey).filter(({ name }) => name === checkpoint.origin)
  if (keys.length === 0) return { status: 404, text: 'this witness does not know the log\n' }
  if (!keys.some((key) => isSignedBy(checkpoint, key))) {
    return { status: 403, text: 'the checkpoint is not signed with a known key of the log\n' }
  }
  if (requested.before > checkpoint.size) {
    return { status: 400, text: 'the old size is greater than that of the checkpoint\n' }
  }
  const refused = await recordIfConsistent(deps.pg, requested)
  if (refused !== null) return refused
  const seconds = Math.floor(deps.now() / 1_000)
  return { status: 200, text: deps.witness.cosign(checkpoint.body, seconds) }
}

/** Records the checkpoint as the latest of its log. Returns an answer if it is refused. */
async function recordIfConsistent(
  pg: Pool,
  { before, proof, checkpoint }: Requested,
): Promise<WitnessAnswer | null> {
  const { origin, size, root } = checkpoint
  const client = await pg.connect()
  let isBroken = true
  try {
    await client.query('begin')
    await client.query(
      `insert into transparency_log.witnessed (origin, size, root) values ($1, 0, '')
        on conflict (origin) do nothing`,
      [origin],
    )
    const { rows } = await client.query<{ size: string; root: Buffer }>(
      'select size, root from transparency_log.witnessed where origin = $1 for update',
      [origin],
    )
    const signed = { size: Number(rows[0]?.size), root: rows[0]?.root ?? Buffer.alloc(0) }
    const refused = refusalOf(signed, before, proof, checkpoint)
    if (refused === null) {
      await client.query(
        'update transparency_log.witnessed set size = $2, root = $3 where origin = $1',
        [origin, size, root],
      )
    }
    await client.query('commit')
    isBroken = false
    return refused
  } finally {
    client.release(isBroken)
  }
}

function refusalOf(
  signed: { readonly size: number; readonly root: Buffer },
  before: number,
  proof: readonly Buffer[],
  checkpoint: SignedCheckpoint,
): WitnessAnswer | null {
  const { size } = checkpoint
  if (signed.size !== before) return { status: 409, text: `${signed.size}\n` }
  if (signed.size === size && size > 0 && !signed.root.equals(checkpoint.root)) {
    return { status: 409, text: `${signed.size}\n` }
  }
  // The first checkpoint of a log continues the empty tree, for which no proof is needed.
  const isContinued =
    signed.size === 0 ? proof.length === 0 : isConsistent(signed, checkpoint, proof)
  return isContinued ? null : { status: 422, text: 'the proof of consistency is wrong\n' }
}

function parseRequest(text: string): Requested | null {
  const end = text.indexOf('\n\n')
  const [first = '', ...lines] = text.slice(0, Math.max(0, end)).split('\n')
  const [, before] = /^old (0|[1-9]\d{0,14})$/.exec(first) ?? []
  const proof = lines.map((line) => Buffer.from(line, 'base64'))
  const isProof = proof.length <= PROOF_HASHES_MAX && proof.every((hash) => hash.length === 32)
  if (before === undefined || !isProof) return null
  try {
    const checkpoint = parseSignedCheckpoint(text.slice(end + 2))
    return { before: Number(before), proof, checkpoint }
  } catch {
    return null
  }
}
