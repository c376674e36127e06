import { channelChecksDecider } from '#domain/channel-checks/decide.ts'
import { channelChecksStream } from '#domain/channel-checks/events.ts'
import { isSameModel } from '../canonical/answer-mismatch.ts'
import { isRelayError } from '../canonical/relay-error.ts'
import { outputCeiling, readOpenAiUsage } from '../canonical/usage-report.ts'
import { type ChatRequest, readChatRequest } from '../dialects/openai-chat/chat-request.ts'
import { modelIn } from '../dialects/openai-chat/upstream-body.ts'
import { usageInAnswer } from '../dialects/openai-chat/usage-in-answer.ts'
import { accountErrorOf } from '../pipeline/account-error.ts'
import { type AttemptEnd, UpstreamAttempt } from '../pipeline/call-upstream.ts'
import { DEFAULT_DEADLINES, type Deadlines } from '../pipeline/deadlines.ts'
import { type Candidate, candidateOf } from '../pipeline/plan-call.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { StreamForwarder } from '../pipeline/stream-forwarder.ts'
import {
  chatPathOf,
  isByDeployment,
  type ProviderTarget,
} from '../providers/openai-compatible/target.ts'
import { type RelayChannel, workOf } from '../views/channel-view.ts'

const OUTPUT_TOKENS = 16
/** These think before they speak, and refuse the older name of the limit. */
const THINKERS = /(^|\/)(o[1-9]|gpt-5)/

/** The model a channel is tested with when nobody names one; empty when it has none. */
const testModelOf = ({ terms }: Pick<RelayChannel, 'terms'>): string =>
  terms.testModel === '' ? (terms.models[0] ?? '') : terms.testModel

/** The smallest chat there is; null when the model's name can't be one, or chats aren't taken. */
function testRequest(
  { terms }: Pick<RelayChannel, 'terms'>,
  model: string,
  isStream: boolean,
): ChatRequest | null {
  if (workOf({ terms }) !== 'chat') return null
  const limit = THINKERS.test(model) ? 'max_completion_tokens' : 'max_tokens'
  const body = {
    model: terms.modelPrefix + model,
    messages: [{ role: 'user', content: 'hi' }],
    [limit]: OUTPUT_TOKENS,
    ...(isStream ? { stream: true } : {}),
  }
  const request = readChatRequest(Buffer.from(JSON.stringify(body)))
  return isRelayError(request) ? null : request
}

export type ProbeDeps = Pick<RelayDeps, 'actors' | 'now' | 'outbound' | 'watch'>

export type Probe = {
  readonly channel: RelayChannel
  /** As the channel's own list has it; its test model, or its first, when left out. */
  readonly model?: string | undefined
  readonly isStream?: boolean
  /** Who asked for it (`user:7`, `system:health`), and because of what. */
  readonly actor: string
  readonly cause: string | null
  /** The run over all channels that it is a part of. */
  readonly run?: string
  readonly signal?: AbortSignal
}

export type ProbeResult = {
  readonly isSuccess: boolean
  readonly model: string
  readonly durationMs: number
  /** A code; empty for a success. */
  readonly reason: string
  /** The model that the answer names, where that is another one than was sent; null otherwise. */
  readonly otherModel: string | null
  /** How it failed; null for a success, and where no request could be made at all. */
  readonly end: Extract<AttemptEnd, { readonly kind: 'failed' }> | null
  /** Of its event; null when there is none, as nobody was asked. */
  readonly position: number | null
}

/** A test is a question of seconds: who asks is waiting for it. */
export const PROBE_DEADLINES: Deadlines = {
  ...DEFAULT_DEADLINES,
  firstByteMs: 30_000,
  idleMs: 15_000,
  totalMs: 60_000,
}

/**
 * Asks one channel for one minimal chat, by the same code and connections as a caller's, whether
 * it is enabled or not, and records what came of it. Never throws for a provider's sake; rejects
 * only when the result can't be recorded.
 */
export async function testChannel(
  deps: ProbeDeps,
  { channel, model = testModelOf(channel), isStream = false, ...why }: Probe,
  deadlines: Deadlines = PROBE_DEADLINES,
): Promise<ProbeResult> {
  const request = testRequest(channel, model, isStream)
  const candidate = request === null ? null : candidateOf(channel, request)
  const { target, channelId } = channel
  if (target === null || candidate === null || isRelayError(candidate)) {
    const reason = target === null ? 'no-address' : 'no-request'
    const failed = { isSuccess: false, end: null, position: null, otherModel: null }
    return { ...failed, model, durationMs: 0, reason }
  }
  const { actor, cause, run = null, signal } = why
  const startedAt = performance.now()
  const end = await ask(deps, { target, candidate, deadlines, signal })
  const durationMs = Math.round(performance.now() - startedAt)
  const isSuccess = end.kind === 'answered'
  const reason = isSuccess ? '' : reasonOf(end)
  const otherModel = isSuccess ? otherModelOf(end, candidate, target) : null
  const result = { isSuccess, model, durationMs, reason, otherModel, end: isSuccess ? null : end }
  // A test that was ended here says nothing about the channel.
  if (signal?.aborted) return { ...result, position: null }
  const usage = isSuccess ? countsOf(end.rawUsage, candidate) : null
  const test = { channelId, model, isSuccess, durationMs, reason, usage, run }
  const outcome = await deps.actors.handle(
    channelChecksDecider,
    channelChecksStream(channelId),
    { type: 'RecordTest', ...test },
    { actor, cause, at: deps.now() },
  )
  return { ...result, position: outcome.isDone ? outcome.position : null }
}

type Failed = Extract<AttemptEnd, { readonly kind: 'failed' }>
type Answered = {
  readonly kind: 'answered'
  readonly rawUsage: unknown
  /** As sent; null or undefined when the answer names none. */
  readonly answeredModel: string | null | undefined
}

type Question = {
  readonly target: ProviderTarget
  readonly candidate: Candidate
  readonly deadlines: Deadlines
  readonly signal: AbortSignal | undefined
}

/** What a stream brings is counted by nobody here, and kept by nobody. */
const NOWHERE = { write: () => true }

async function ask(
  { outbound, watch }: ProbeDeps,
  { target, candidate, deadlines, signal }: Question,
): Promise<Answered | Failed> {
  const { request, body, upstreamModel } = candidate
  const forwarder = request.isStream ? new StreamForwarder(NOWHERE, false, null, () => {}) : null
  const attempt = new UpstreamAttempt(forwarder, deadlines)
  const startedAt = performance.now()
  const watched = {
    watch: (at: number) => {
      if (at - startedAt > deadlines.totalMs) attempt.abort('timeout')
      attempt.watch(at)
      return !attempt.isClosed
    },
  }
  const giveUp = () => attempt.abort('draining')
  watch.add(watched)
  const path = chatPathOf(target, upstreamModel ?? request.model)
  const { headers, origin, proxy } = target
  const ended = attempt.start(outbound.via(proxy).poolFor(origin), { path, headers, body })
  signal?.addEventListener('abort', giveUp)
  if (signal?.aborted) giveUp()
  const end = await ended
  signal?.removeEventListener('abort', giveUp)
  if (end.kind === 'plain') {
    const { body: answer } = end
    return { kind: 'answered', rawUsage: usageInAnswer(answer), answeredModel: modelIn(answer) }
  }
  if (end.kind === 'failed') return end
  const { status } = end
  const error = end.error ?? (forwarder?.hasDelivered ? null : 'format')
  if (error === null) {
    const { rawUsage, answeredModel } = forwarder ?? {}
    return { kind: 'answered', rawUsage, answeredModel }
  }
  const event = forwarder?.errorEvent ?? Buffer.alloc(0)
  return { kind: 'failed', status, error, body: event, retryAfterMs: 0 }
}

const MODEL_LENGTH_SHOWN = 128

/** A deployment has a name of its own, whatever model it runs. */
function otherModelOf(
  { answeredModel }: Answered,
  { request, upstreamModel }: Candidate,
  target: ProviderTarget,
): string | null {
  if (!answeredModel || isByDeployment(target)) return null
  const isSame = isSameModel(upstreamModel ?? request.model, answeredModel)
  return isSame ? null : answeredModel.slice(0, MODEL_LENGTH_SHOWN)
}

function reasonOf(end: Failed): string {
  if (end.isProxy === true) return 'proxy'
  return accountErrorOf(end) ?? (end.error === 'status' ? `status-${end.status}` : end.error)
}

function countsOf(rawUsage: unknown, { request, channel }: Candidate) {
  const bounds = {
    inputCeiling: request.inputBound.ceiling,
    outputCeiling: outputCeiling(request.outputTokensMax ?? 0),
  }
  const isTotalLessPrompt = channel.target?.isOutputTotalLessPrompt ?? false
  const report = readOpenAiUsage(rawUsage, bounds, isTotalLessPrompt)
  if (!report.isTrusted) return null
  const { inputUncached, cacheRead, cacheWrite5m, inputAudio, inputImage, output } = report.usage
  return { input: inputUncached + cacheRead + cacheWrite5m + inputAudio + inputImage, output }
}
