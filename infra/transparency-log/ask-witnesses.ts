import type { Pool } from 'pg'
import { request } from 'undici'
import {
  type RefusedCheckpoint,
  recordRefusingWitness,
} from '../audit-program/record-refusing-witness.ts'
import {
  isSignedBy,
  parseSignedCheckpoint,
  parseVerifierKey,
} from '../audit-program/signed-checkpoint.ts'
import type { Config } from '../config/config.ts'
import type { Core } from '../core-dependencies.ts'
import type { Outbound } from '../outbound/outbound-connections.ts'
import { NEVER } from '../reject-on-abort.ts'
import { warnThrottled } from '../telemetry/log.ts'
import { noteOf } from './note-signer.ts'
import {
  type LogCheckpoint,
  listCheckpoints,
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
  /** Ends the requests, for example when the process stops. */
  readonly signal?: AbortSignal
}
/** What asking the witnesses needs. */
export type WitnessDeps = AskDeps & Pick<Core, 'actors' | 'now'>

/**
 * Asks the witnesses that have not signed the checkpoint to sign it. A witness is another site that
 * signs a checkpoint only if it continues the checkpoints that the witness signed before. Returns
 * whether as many witnesses as the site requires have signed. Failures are logged and never thrown.
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
  { size: refusedSize }: LogCheckpoint,
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
  await recordRefusingWitness(deps, { witness, size, refusedSize, reason }).catch(
    (error: unknown) =>
      warnThrottled(log, { err: error }, 'the refusal of a witness was not recorded'),
  )
}

/**
 * Asks one witness by the protocol C2SP tlog-witness. A witness that has last signed another size
 * than this site knows answers 409 with its size, and is then asked once more. A witness that does
 * not know the key answers 403, and then receives the rotations of the key.
 */
async function askWitness(
  { pg, ...deps }: AskDeps,
  witness: Witness,
  latest: LogCheckpoint,
): Promise<void> {
  const key = parseVerifierKey(witness.key)
  const known = await lastSizeOf(pg, key.name)
  const send = (checkpoint: Sent, before: number) =>
    sendCheckpoint({ pg, ...deps }, witness.url, before, checkpoint)
  let answer = await sendFromKnownSize(send, latest, known)
  if (answer.status === 403) {
    // The witness may know an earlier key only. The rotations lead it to the present one.
    await sendRotations(pg, send, known)
    answer = await sendFromKnownSize(send, latest, known)
  }
  // Any tree continues the empty one, so a refusal of that is a fault of the witness.
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
 * Sends the rotations of the key to each witness, so that the witness no longer accepts the old
 * key. Returns why a witness did not sign the last rotation. The rotations are sent again when the
 * witness refuses a later checkpoint.
 */
export async function publishKeyRotations(
  deps: AskDeps,
): Promise<readonly { readonly key: string; readonly error: string | null }[]> {
  const { config, pg } = deps
  const { witnesses } = config.transparencyLog
  return await Promise.all(
    witnesses.map(async ({ key, url }) => {
      const send = (checkpoint: Sent, before: number) =>
        sendCheckpoint(deps, url, before, checkpoint)
      try {
        const { name } = parseVerifierKey(key)
        return { key, error: await sendRotations(pg, send, await lastSizeOf(pg, name)) }
      } catch (error) {
        return { key, error: (error as Error).message }
      }
    }),
  )
}

/** Sends the rotations in order. Returns the error of the last one. */
async function sendRotations(pg: Pool, send: Send, known: number): Promise<string | null> {
  let error: string | null = null
  for (const note of await readKeyRotations(pg)) {
    const { size } = parseSignedCheckpoint(note)
    try {
      const { status } = await sendFromKnownSize(send, { size, note }, Math.min(known, size))
      error = status === 200 ? null : `it answered ${status}`
    } catch (failure) {
      error = (failure as Error).message
    }
  }
  return error
}

type Send = (checkpoint: Sent, before: number) => Promise<Answer>
type Sent = Pick<LogCheckpoint, 'size' | 'note'>
type Answer = {
  readonly status: number
  readonly text: string
  /** The tree size that the witness has signed before, as the request states it. */
  readonly before: number
}

/**
 * Sends a checkpoint. If the witness answers 409 with the size that it knows, sends it once more.
 * If the request stated the checkpoint's own size as the old size, a 409 with this size means that
 * the witness has signed another root of this size (C2SP tlog-witness). Only the stated old size
 * counts, because another process may meanwhile have obtained a signature for the same checkpoint.
 */
async function sendFromKnownSize(send: Send, checkpoint: Sent, known: number): Promise<Answer> {
  const answer = await send(checkpoint, known)
  const size = sizeOfConflict(answer)
  if (size === null) return answer
  const second = size === known ? answer : await send(checkpoint, size)
  if (size === checkpoint.size && sizeOfConflict(second) === size) {
    throw new OtherHistory('other-tree', size, `it has signed another tree of ${size} events (409)`)
  }
  return second
}

/**
 * Returns the size in a 409 response, which is the last size that the witness has signed. Returns
 * null for other responses.
 */
const sizeOfConflict = ({ status, text }: Answer): number | null =>
  status === 409 && /^\d{1,15}\n?$/.test(text) ? Number(text) : null

/** Returns the size of the last checkpoint with a signature under this name, or 0. */
async function lastSizeOf(pg: Pool, name: string): Promise<number> {
  const recent = await listCheckpoints(pg, 50)
  return recent.find(({ note }) => note.includes(`\n— ${name} `))?.size ?? 0
}

async function sendCheckpoint(
  { pg, outbound: { dispatcher }, signal = NEVER }: AskDeps,
  url: string,
  before: number,
  { size, note }: Sent,
): Promise<Answer> {
  if (before > size) {
    const error = `it has already signed ${before} events`
    const [latest] = await listCheckpoints(pg, 1)
    // Another process may have sealed more events meanwhile.
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
