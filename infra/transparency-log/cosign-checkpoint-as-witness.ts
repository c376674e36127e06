import type { Pool, PoolClient } from 'pg'
import {
  isSignedBy,
  parseSignedCheckpoint,
  parseVerifierKey,
  type SignedCheckpoint,
} from '../audit-program/signed-checkpoint.ts'
import { isKeyRotation, parseKeyRotation } from '../audit-program/trusted-log-keys.ts'
import { isConsistent } from './merkle-tree.ts'
import type { NoteSigner } from './note-signer.ts'

/** The HTTP status and text of a response of the protocol C2SP tlog-witness. */
export type WitnessAnswer = { readonly status: number; readonly text: string }

type WitnessDeps = {
  readonly pg: Pool
  readonly witness: NoteSigner
  /**
   * The public keys of the logs whose checkpoints this site signs as a witness, as `name+hash+key`.
   */
  readonly keys: readonly string[]
  /** Returns the current time in Unix milliseconds. */
  readonly now: () => number
}

const PROOF_HASHES_MAX = 63

type Requested = {
  readonly before: number
  readonly proof: readonly Buffer[]
  readonly checkpoint: SignedCheckpoint
  readonly note: string
}

/**
 * Signs the checkpoint of another log as a witness. A witness signs only if the checkpoint's tree
 * begins with the tree of the last checkpoint of the same log that the witness has signed. During
 * this check, the row of the log is locked, so that the witness never signs two different
 * histories.
 */
export async function witnessCheckpoint(deps: WitnessDeps, text: string): Promise<WitnessAnswer> {
  const requested = parseRequest(text)
  if (requested === null) return { status: 400, text: 'the request is malformed\n' }
  const { checkpoint } = requested
  const keys = deps.keys.filter((key) => parseVerifierKey(key).name === checkpoint.origin)
  if (keys.length === 0) return { status: 404, text: 'this witness does not know the log\n' }
  if (requested.before > checkpoint.size) {
    return { status: 400, text: 'the old size is greater than that of the checkpoint\n' }
  }
  // The signature is checked first, so that only a holder of the log's key can create and lock a
  // row.
  const known = await readWitnessed(deps.pg, checkpoint.origin)
  if (keyError(known, keys, checkpoint) !== null) return UNKNOWN_KEY
  const refused = await recordIfConsistent(deps.pg, requested, keys)
  if (refused !== null) return refused
  const seconds = Math.floor(deps.now() / 1_000)
  return { status: 200, text: deps.witness.cosign(checkpoint.body, seconds) }
}

const UNKNOWN_KEY: WitnessAnswer = {
  status: 403,
  text: 'the checkpoint is not signed with a known key of the log, or its key was retired\n',
}

/**
 * The record of this witness about a log: the last tree that the witness has signed, the key that
 * replaced a configured key (or null), and the keys that are no longer accepted.
 */
type WitnessedLog = {
  readonly size: number
  readonly root: Buffer
  readonly currentKey: string | null
  readonly retiredKeys: readonly string[]
}

async function readWitnessed(
  pg: Pool | PoolClient,
  origin: string,
  lock = '',
): Promise<WitnessedLog> {
  const { rows } = await pg.query<WitnessedLog>(
    `select size::float8 as size, root, current_key as "currentKey",
        retired_keys as "retiredKeys"
      from transparency_log.witnessed where origin = $1 ${lock}`,
    [origin],
  )
  return rows[0] ?? { size: 0, root: Buffer.alloc(0), currentKey: null, retiredKeys: [] }
}

/**
 * Returns the response for a checkpoint that no valid key of its log has signed, or null if a valid
 * key has signed it.
 */
function keyError(
  { currentKey, retiredKeys }: WitnessedLog,
  configured: readonly string[],
  checkpoint: SignedCheckpoint,
): WitnessAnswer | null {
  const keys = currentKey === null ? configured : [...configured, currentKey]
  const isKnown = keys.some(
    (key) => !retiredKeys.includes(key) && isSignedBy(checkpoint, parseVerifierKey(key)),
  )
  return isKnown ? null : UNKNOWN_KEY
}

/**
 * The maximum number of retired keys of a log. After these, the witness refuses another replacement
 * of the key.
 */
const RETIRED_KEYS_MAX = 100

/**
 * Records that a log has replaced its key. The old key is not accepted afterwards. Returns a
 * response if the replacement is refused, otherwise null.
 */
async function recordRotation(
  client: PoolClient,
  { retiredKeys }: WitnessedLog,
  note: string,
): Promise<WitnessAnswer | null> {
  const { oldKey, newKey, checkpoint } = parseKeyRotation(note)
  if (retiredKeys.includes(oldKey)) return null
  if (retiredKeys.includes(newKey) || retiredKeys.length >= RETIRED_KEYS_MAX) return UNKNOWN_KEY
  await client.query(
    `update transparency_log.witnessed
      set current_key = $2, retired_keys = retired_keys || $3::text where origin = $1`,
    [checkpoint.origin, newKey, oldKey],
  )
  return null
}

/**
 * Records the checkpoint as the latest one of its log. Returns a response if the checkpoint is
 * refused, otherwise null.
 */
async function recordIfConsistent(
  pg: Pool,
  { before, proof, checkpoint, note }: Requested,
  keys: readonly string[],
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
    const signed = await readWitnessed(client, origin, 'for update')
    const isRotation = isKeyRotation(checkpoint)
    const refused =
      keyError(signed, keys, checkpoint) ??
      refusalOf(signed, before, proof, checkpoint) ??
      (isRotation ? await recordRotation(client, signed, note) : null)
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
  // A log's first checkpoint needs no proof, because every tree begins with the empty tree.
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
    const note = text.slice(end + 2)
    const checkpoint = parseSignedCheckpoint(note)
    if (isKeyRotation(checkpoint)) parseKeyRotation(note)
    return { before: Number(before), proof, checkpoint, note }
  } catch {
    return null
  }
}
