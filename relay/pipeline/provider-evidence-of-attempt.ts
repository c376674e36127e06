import { createHash, type Hash, hash } from 'node:crypto'
import type { Digest, ProviderEvidence } from '#domain/accounts/events.ts'
import { jsonOrEmpty } from '#relay/canonical/json-values.ts'
import { areEvidenceTexts } from '#relay/canonical/redact-provider-texts.ts'
import { confidentialOf, type ProviderTarget } from '../providers/profiles/provider-target.ts'
import { type ProviderHeaders, requestIdHeaderIn } from './read-retry-delay-and-request-id.ts'

/**
 * A body that is longer than this is hashed in slices of this length, so that the event loop can
 * work in between.
 */
const SLICE_BYTES = 256 * 1024
/** The number of bytes at the start of an answer that are searched for identifiers. */
const START_BYTES = 256
/** The number of bytes at the end of an answer that are searched for identifiers. */
const END_BYTES = 128
/** The maximum length of the provider's usage report in a recorded event. */
const USAGE_LENGTH_MAX = 2_048
/**
 * Matches a long string in a usage report. Reports normally contain only names and numbers, so a
 * long string might be part of a conversation.
 */
const LONG_TEXT = /"[^"]{65,}"/

/**
 * Matches members that identify the answer or the system that made it. A member that is quoted
 * within a text of the answer is not matched, because the quotes in a text are escaped.
 */
const IDENTIFIERS =
  /"(id|responseId|system_fingerprint|service_tier|trafficType|provider)"\s*:\s*"([^"\\]{1,128})"/g

/** Computes the SHA-256 of a byte stream. Most streams have one chunk, which is hashed at once. */
class StreamDigest {
  private bytes = 0
  private first: Buffer | null = null
  private hash: Hash | null = null

  push(chunk: Buffer): void {
    this.bytes += chunk.length
    if (this.hash !== null) this.hash.update(chunk)
    else if (this.first === null) this.first = chunk
    else {
      this.hash = createHash('sha256').update(this.first).update(chunk)
      this.first = null
    }
  }

  get isOneChunk(): boolean {
    return this.first !== null
  }

  /** Returns the digest of the complete stream. Returns null if the stream had no bytes. */
  end(): Digest | null {
    const { bytes, first } = this
    if (bytes === 0) return null
    return { bytes, sha256: this.hash?.digest('hex') ?? hash('sha256', first ?? '', 'hex') }
  }
}

/**
 * Collects what one attempt shows about the provider: digests of the bytes in both directions, the
 * provider's id of the request, and the identifiers in the answer.
 */
export class AttemptEvidence {
  private sent: Digest | Promise<Digest> | null = null
  private readonly upload = new StreamDigest()
  private readonly received = new StreamDigest()
  private headers: ProviderHeaders = {}
  private start = ''
  private last: Buffer | null = null

  noteSent(body: Buffer): void {
    const { length: bytes } = body
    if (bytes > SLICE_BYTES) this.sent = digestInSlices(body)
    else this.sent = { bytes, sha256: hash('sha256', body, 'hex') }
  }

  /**
   * True if a request body other than a streamed upload was sent to the provider. False if at most
   * a request for credentials was sent.
   */
  get hasSentBody(): boolean {
    return this.sent !== null
  }

  /** Records that a chunk of the upload was passed to the connection. */
  noteUploaded(chunk: Buffer): void {
    this.upload.push(chunk)
  }

  noteHeaders(headers: ProviderHeaders): void {
    this.headers = headers
  }

  noteReceived(chunk: Buffer): void {
    this.received.push(chunk)
    if (this.last === null) this.start = chunk.toString('latin1', 0, START_BYTES)
    this.last = chunk
  }

  /**
   * Resolves when the digest of the request is available. The digest of a long request is computed
   * in several steps.
   */
  async awaitSentDigest(): Promise<void> {
    this.sent = await this.sent
  }

  /**
   * True once the digest of the request is available. Only the digest of a long request (more than
   * `SLICE_BYTES`) is computed asynchronously.
   */
  get hasSentDigest(): boolean {
    return !(this.sent instanceof Promise)
  }

  /**
   * Ends the collection and returns the evidence. `confidential` lists the texts that must not
   * appear in any event, such as keys and hosts. `sentAt` is the time at which the request was
   * sent, in Unix milliseconds. `hostHash` is the hash of the target's host and port.
   */
  finish(sentAt: number, confidential: readonly string[], hostHash?: string): ProviderEvidence {
    const report: Writable<ProviderEvidence> = { sentAt }
    if (hostHash !== undefined) report.hostHash = hostHash
    const sent = this.sent instanceof Promise ? null : (this.sent ?? this.upload.end())
    if (sent !== null) report.sent = sent
    const received = this.received.end()
    if (received !== null) report.received = received
    const found = this.identifiers()
    const requestId = requestIdHeaderIn(this.headers)
    if (requestId !== null) found.push(['', requestId])
    this.last = null
    if (found.length === 0) return report
    // Checking all texts at once is faster than checking each of them, and nearly always enough.
    const isFit = areEvidenceTexts(
      found.map(([, value]) => value),
      confidential,
    )
    const fit = isFit ? found : found.filter(([, one]) => areEvidenceTexts([one], confidential))
    for (const [name, value] of fit) {
      if (name === '') report.requestId = value
      else report.fingerprint = { [name]: value, ...report.fingerprint }
    }
    return report
  }

  /**
   * Finds identifiers in the first and the last bytes of the answer. If a name occurs several
   * times, its first value is used.
   */
  private identifiers(): [name: string, value: string][] {
    const { start, last } = this
    const found: [string, string][] = []
    if (last === null) return found
    findIdentifiers(start, found)
    const isRead = this.received.isOneChunk && last.length <= START_BYTES
    const from = Math.max(0, last.length - END_BYTES)
    if (!isRead) findIdentifiers(last.toString('latin1', from), found)
    return found
  }
}

function findIdentifiers(text: string, found: [string, string][]): void {
  IDENTIFIERS.lastIndex = 0
  for (let match = IDENTIFIERS.exec(text); match !== null; match = IDENTIFIERS.exec(text)) {
    const [, name = '', value = ''] = match
    if (!found.some(([earlier]) => earlier === name)) found.push([name, value])
  }
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/** The model and the usage that the complete answer names, unparsed. */
export type AnswerFacts = { readonly model: unknown; readonly usage: unknown }

type AnswerEvidence = Pick<ProviderEvidence, 'model' | 'usage'>

/** Returns a copy of the evidence with the answer's model and the provider's usage report. */
export function withAnswer<Evidence extends Partial<ProviderEvidence>>(
  evidence: Evidence,
  facts: AnswerFacts,
  confidential: readonly string[],
): Evidence & AnswerEvidence {
  const answered: Writable<AnswerEvidence> = {}
  noteAnswer(answered, facts, confidential)
  return { ...evidence, ...answered }
}

/** Adds the answer's model and the provider's usage report to the object `evidence` itself. */
export function noteAnswer(
  evidence: Writable<AnswerEvidence>,
  { model, usage }: AnswerFacts,
  confidential: readonly string[],
): void {
  if (typeof model === 'string' && areEvidenceTexts([model], confidential)) evidence.model = model
  const report = usageText(usage, confidential)
  if (report !== null) evidence.usage = report
}

/**
 * Returns the evidence of a request that was not sent by an `UpstreamAttempt`. Returns null if the
 * provider was not reached, or if only credentials were requested. `acceptedId` is the id under
 * which the provider accepted a task or a batch.
 */
export async function evidenceOfRequest(
  evidence: AttemptEvidence,
  { sentAt, error, target, answer, acceptedId }: SentRequest,
): Promise<ProviderEvidence | null> {
  if (error === 'connect' || !evidence.hasSentBody) return null
  await evidence.awaitSentDigest()
  const confidential = confidentialOf(target)
  const report = evidence.finish(sentAt, confidential, target.hostHash)
  const answered = answer === null ? report : withAnswer(report, answer, confidential)
  if (acceptedId === null || !areEvidenceTexts([acceptedId], confidential)) return answered
  return { ...answered, fingerprint: { ...answered.fingerprint, id: acceptedId } }
}

type SentRequest = {
  /** The time at which the request was sent, in Unix milliseconds. */
  readonly sentAt: number
  /** The error of a failed attempt. */
  readonly error: string | null
  readonly target: ProviderTarget
  readonly answer: AnswerFacts | null
  readonly acceptedId: string | null
}

/**
 * Returns the provider's usage report as JSON, cut at its maximum length. Returns null if the
 * report contains a confidential text or a long string.
 */
function usageText(usage: unknown, confidential: readonly string[]): string | null {
  if (typeof usage !== 'object' || usage === null) return null
  const text = jsonOrEmpty(usage).slice(0, USAGE_LENGTH_MAX).toWellFormed()
  if (text === '' || LONG_TEXT.test(text)) return null
  for (const one of confidential) if (isIn(one, text)) return null
  return text
}

const CONFIDENTIAL_MIN = 5
const isIn = (confidential: string, text: string): boolean =>
  confidential.length >= CONFIDENTIAL_MIN && text.includes(confidential)

async function digestInSlices(body: Buffer): Promise<Digest> {
  const digest = createHash('sha256')
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve))
    digest.update(body.subarray(at, at + SLICE_BYTES))
  }
  return { bytes: body.length, sha256: digest.digest('hex') }
}
