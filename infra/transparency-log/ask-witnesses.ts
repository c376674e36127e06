import type { Pool } from 'pg'
import { request } from 'undici'
import {
  type RefusedCheckpoint,
  recordRefusedCosignature,
} from '../audit-program/record-and-report-witness-refusals.ts'
import {
  isSignedBy,
  parseSignedCheckpoint,
  parseVerifierKey,
  type VerifierKey,
} from '../audit-program/signed-checkpoint.ts'
import type { Config } from '../config/config-types.ts'
import type { Core } from '../core-dependencies.ts'
import type { Outbound } from '../outbound/outbound-connections.ts'
import { NEVER } from '../reject-on-abort.ts'
import { warnThrottled } from '../telemetry/log.ts'
import { noteOf } from './note-signer.ts'
import {
  type LogCheckpoint,
  listCheckpoints,
  MissingHash,
  readKeyRotations,
  storedTree,
} from './read-checkpoints-and-tiles.ts'

type Witness = Config['transparencyLog']['witnesses'][number]

/** The time in milliseconds within which another site must answer. */
export const ANSWER_MS_MAX = 10_000
const ANSWER_CHARACTERS_MAX = 4_096

/** Thrown if a witness has signed events that are not in this log, or rejects the log's proof. */
class OtherHistory extends Error {
  readonly reason: RefusedCheckpoint['reason']
  /** The number of events in the tree that the witness has signed. */
  readonly size: number

  constructor(reason: RefusedCheckpoint['reason'], size: number, message: string) {
    super(message)
    this.reason = reason
    this.size = size
  }
}

type AskDeps = Pick<Core, 'config' | 'log' | 'pg'> & {
  readonly outbound: Outbound
  /** Aborts the requests to witnesses, for example when the process stops. */
  readonly signal?: AbortSignal
}
/** The dependencies of the functions that ask witnesses and report their refusals. */
export type WitnessDeps = AskDeps & Pick<Core, 'actors' | 'now' | 'vault'>

/**
 * Asks the witnesses that have not signed the checkpoint to sign it. A witness is another site. The
 * witness signs a checkpoint only if the tree of the checkpoint begins with the tree that the
 * witness has signed last. Returns true if at least as many witnesses have signed as the site
 * requires. Failures are logged and never thrown.
 */
export async function askWitnesses(deps: WitnessDeps, checkpoint: LogCheckpoint): Promise<boolean> {
  const { witnesses, quorum } = deps.config.transparencyLog
  const signed = parseSignedCheckpoint(checkpoint.note)
  const results = await Promise.all(
    witnesses.map(async (witness) => {
      if (isSignedBy(signed, parseVerifierKey(witness.key))) return true
      try {
        await askWitness(deps, witness, checkpoint)
        return true
      } catch (err) {
        await reportFailure(deps, witness, checkpoint, err)
        return false
      }
    }),
  )
  return results.filter((hasSigned) => hasSigned).length >= quorum
}

async function reportFailure(
  deps: WitnessDeps,
  { key, url }: Witness,
  { size: refusedSize, root }: LogCheckpoint,
  err: unknown,
): Promise<void> {
  const { log, signal } = deps
  if (signal?.aborted === true) return
  if (!(err instanceof OtherHistory)) {
    warnThrottled(log, { err }, `the witness ${url} did not sign the checkpoint`)
    return
  }
  log.error({ err, witness: url }, 'a witness has signed another history of this log')
  const { reason, size } = err
  const { name: witness } = parseVerifierKey(key)
  const refused = {
    ...{ witness, size, reason, refusedSize },
    refusedRoot: root.toString('base64'),
  }
  await recordRefusedCosignature(deps, refused).catch((error: unknown) =>
    warnThrottled(log, { err: error }, 'the refusal of a witness was not recorded'),
  )
}

/**
 * Asks one witness with the protocol C2SP tlog-witness. If the witness has last signed another tree
 * size than this site assumes, the witness answers 409 with the right size, and is asked once more.
 * A witness that does not know the site's key answers 403. This function then sends the notes in
 * which the site replaced its key, and asks the witness again.
 */
async function askWitness(
  { pg, ...deps }: AskDeps,
  witness: Witness,
  latest: LogCheckpoint,
): Promise<void> {
  const key = parseVerifierKey(witness.key)
  const lastSize = await lastSizeOf(pg, key)
  const isRecorded = (size: number) => hasSigned(pg, key, size)
  const send = (checkpoint: SentCheckpoint, before: number) =>
    sendCheckpoint({ pg, ...deps }, witness.url, before, checkpoint)
  let answer = await sendFromKnownSize(send, latest, lastSize, isRecorded)
  if (answer.status === 403) {
    // The witness may only know an earlier key. The notes in which the keys were replaced prove
    // that the present key has succeeded the earlier key.
    await sendRotations(pg, send, key)
    answer = await sendFromKnownSize(send, latest, lastSize, isRecorded)
  }
  // Every tree begins with the empty tree, so a witness that has signed nothing before has no
  // reason to refuse the proof.
  if (answer.status === 422 && answer.before > 0) {
    const message = 'it refused the proof of consistency (422)'
    throw new OtherHistory('not-continued', answer.before, message)
  }
  if (answer.status !== 200) throw new Error(`it answered ${answer.status}`)
  const { body } = parseSignedCheckpoint(latest.note)
  const line = answer.text.split('\n').find((text) => text.startsWith(`— ${key.name} `))
  if (line === undefined) throw new Error('its answer has no signature of its name')
  const note = parseSignedCheckpoint(noteOf(body, [`${line}\n`]))
  if (!isSignedBy(note, key)) throw new Error('its signature does not fit its key')
  await pg.query(
    `update transparency_log.checkpoints set signatures = signatures || $2
      where size = $1
        and not $3 = any (select split_part(line, ' ', 2) from unnest(signatures) line)`,
    [latest.size, [`${line}\n`], key.name],
  )
}

/**
 * Sends each witness the notes in which the site replaced its key, so that the witness no longer
 * accepts the old key. Returns for each witness why it did not sign the last of these notes, or
 * null if it did. The notes are sent again if the witness refuses a later checkpoint.
 */
export async function publishKeyRotations(
  deps: AskDeps,
): Promise<readonly { readonly key: string; readonly error: string | null }[]> {
  const { config, pg } = deps
  const { witnesses } = config.transparencyLog
  return await Promise.all(
    witnesses.map(async ({ key, url }) => {
      const send = (checkpoint: SentCheckpoint, before: number) =>
        sendCheckpoint(deps, url, before, checkpoint)
      try {
        return { key, error: await sendRotations(pg, send, parseVerifierKey(key)) }
      } catch (error) {
        return { key, error: (error as Error).message }
      }
    }),
  )
}

/**
 * Sends the notes in which the site replaced its key, in order. Returns the error of the last note,
 * or null if the witness has signed that note.
 */
async function sendRotations(pg: Pool, send: Send, key: VerifierKey): Promise<string | null> {
  const lastSize = await lastSizeOf(pg, key)
  const isRecorded = (size: number) => hasSigned(pg, key, size)
  let error: string | null = null
  for (const note of await readKeyRotations(pg)) {
    const { size } = parseSignedCheckpoint(note)
    try {
      const before = Math.min(lastSize, size)
      const { status } = await sendFromKnownSize(send, { size, note }, before, isRecorded)
      error = status === 200 ? null : `it answered ${status}`
    } catch (failure) {
      error = (failure as Error).message
    }
  }
  return error
}

type Send = (checkpoint: SentCheckpoint, before: number) => Promise<Answer>
type SentCheckpoint = Pick<LogCheckpoint, 'size' | 'note'>
type Answer = {
  readonly status: number
  readonly text: string
  /**
   * The old tree size in the request: the size of the last tree that the witness is assumed to have
   * signed.
   */
  readonly before: number
}

/**
 * Sends a checkpoint. If the witness answers 409 with the size that it has signed last, sends the
 * checkpoint once more with this old size. If this old size is the checkpoint's own size and the
 * witness answers 409 again, the witness has signed another root of this size (C2SP tlog-witness).
 * The first 409 alone does not show this, because another process may meanwhile have obtained a
 * signature for the same checkpoint.
 */
async function sendFromKnownSize(
  send: Send,
  checkpoint: SentCheckpoint,
  lastSize: number,
  isRecorded: (size: number) => Promise<boolean>,
): Promise<Answer> {
  const { answer, isLost } = await sendWithLostTiles(send, checkpoint, lastSize)
  const size = sizeOfConflict(answer)
  if (size === null) return answer
  const second =
    size === lastSize && !isLost
      ? answer
      : await send(checkpoint, size).catch(async (error: unknown) => {
          if (!(error instanceof MissingHash)) throw error
          // The site has a checkpoint of this size that the witness has signed. Only the proof
          // cannot be computed.
          if (await isRecorded(size)) throw error
          // This site has no checkpoint with the tree that the witness has signed, and cannot prove
          // that its log extends this tree. The admins must be told about this refusal, as about
          // any other refusal.
          const message = `it has signed ${size} events, and there is no proof: ${error.message}`
          throw new OtherHistory('not-continued', size, message)
        })
  if (size === checkpoint.size && sizeOfConflict(second) === size) {
    throw new OtherHistory('other-tree', size, `it has signed another tree of ${size} events (409)`)
  }
  return second
}

/**
 * Sends a checkpoint with the proof from the known size. If a tile that the proof needs is lost,
 * sends the proof from the empty tree instead, which needs no tiles. The witness then answers with
 * the size that it has signed. In this case, `isLost` is true.
 */
async function sendWithLostTiles(
  send: Send,
  checkpoint: SentCheckpoint,
  lastSize: number,
): Promise<{ readonly answer: Answer; readonly isLost: boolean }> {
  try {
    return { answer: await send(checkpoint, lastSize), isLost: false }
  } catch (error) {
    if (!(error instanceof MissingHash)) throw error
    return { answer: await send(checkpoint, 0), isLost: true }
  }
}

/**
 * Returns the tree size in a 409 response, which is the last size that the witness has signed.
 * Returns null for other responses.
 */
const sizeOfConflict = ({ status, text }: Answer): number | null =>
  status === 409 && /^\d{1,15}\n?$/.test(text) ? Number(text) : null

/**
 * Returns the tree size of the last of the recent checkpoints that the witness has signed, or 0 if
 * it has signed none of them. The size is only a first guess. If the guess is wrong, the witness
 * answers with the right size. `hasSigned` then looks up a checkpoint of that size, however old it
 * is.
 */
async function lastSizeOf(pg: Pool, key: VerifierKey): Promise<number> {
  const recent = await listCheckpoints(pg, 50)
  return recent.find((checkpoint) => isCosigned(checkpoint, key))?.size ?? 0
}

/** Reports whether the checkpoint of exactly this size is stored with the witness's signature. */
async function hasSigned(pg: Pool, key: VerifierKey, size: number): Promise<boolean> {
  const [stored] = await listCheckpoints(pg, 1, size + 1)
  return stored?.size === size && isCosigned(stored, key)
}

/**
 * Reports whether the witness has signed a stored checkpoint. A row that was damaged in the
 * database counts as not signed, so that the row does not prevent the request to the witness.
 */
function isCosigned({ size, note }: LogCheckpoint, key: VerifierKey): boolean {
  try {
    const checkpoint = parseSignedCheckpoint(note)
    return checkpoint.size === size && isSignedBy(checkpoint, key)
  } catch {
    return false
  }
}

async function sendCheckpoint(
  { pg, outbound: { dispatcher }, signal = NEVER }: AskDeps,
  url: string,
  before: number,
  { size, note }: SentCheckpoint,
): Promise<Answer> {
  if (before > size) {
    const error = `it has already signed ${before} events`
    const [latest] = await listCheckpoints(pg, 1)
    // Another process may have sealed more events meanwhile. The log may then contain as many
    // events as the witness has signed.
    if (before <= (latest?.size ?? 0)) throw new Error(error)
    const message = `${error}, but this log has only ${latest?.size ?? 0}`
    throw new OtherHistory('larger-tree', before, message)
  }
  const proof = await storedTree(pg).consistencyProof(before, size)
  const lines = proof.map((hash) => `${hash.toString('base64')}\n`)
  const { statusCode, body } = await request(`${url}/add-checkpoint`, {
    ...{ dispatcher, method: 'POST', body: `old ${before}\n${lines.join('')}\n${note}` },
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
  })
  const text = await body.text()
  return { status: statusCode, text: text.slice(0, ANSWER_CHARACTERS_MAX), before }
}
