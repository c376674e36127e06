import { channelChecksDecider } from '#domain/channel-checks/decide.ts'
import { channelChecksStream } from '#domain/channel-checks/events.ts'
import type { RelayOptions } from '#relay/views/option-view.ts'
import { isSameModel } from '../canonical/check-answered-model-and-cost.ts'
import { outputCeiling } from '../canonical/provider-usage-report.ts'
import { isRelayError } from '../canonical/relay-error.ts'
import { answeredModelIn } from '../dialects/model-name-in-answer.ts'
import type { WireFormat } from '../dialects/wire-format.ts'
import { adapterOf } from '../pipeline/adapt-image-request.ts'
import type { AnswerForwarder } from '../pipeline/answer-forwarder-types.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import { AudioForwarder } from '../pipeline/audio-forwarder.ts'
import { buildProviderCall } from '../pipeline/build-provider-call.ts'
import { DEFAULT_DEADLINES, type Deadlines } from '../pipeline/call-deadlines-and-timer.ts'
import { accountErrorOf } from '../pipeline/detect-provider-account-error.ts'
import { type Candidate, candidateOf } from '../pipeline/prepare-request-for-channel.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import { StreamForwarder } from '../pipeline/stream-forwarder.ts'
import { decoderFor, transportOf } from '../pipeline/translate-chat-to-proprietary-api.ts'
import { UpstreamAttempt } from '../pipeline/upstream-attempt.ts'
import {
  authorizedCall,
  isByDeployment,
  type ProviderTarget,
} from '../providers/profiles/provider-target.ts'
import type { RelayChannel } from '../views/channel-view.ts'
import { testModelOf, testRequest } from './build-test-request.ts'

export type ChannelTestDeps = Pick<RelayDeps, 'actors' | 'now' | 'outbound' | 'timer'> & {
  readonly views: { readonly options: { readonly options: Pick<RelayOptions, 'adapters'> } }
}

export type ChannelTest = {
  readonly channel: RelayChannel
  /**
   * The model to test, from the channel's list. The default is the channel's test model or its
   * first model.
   */
  readonly model?: string | undefined
  readonly isStream?: boolean
  /** The actor that requested the test, such as `user:7` or `system:health`. */
  readonly actor: string
  readonly cause: string | null
  readonly run?: string
  readonly signal?: AbortSignal
}

export type ChannelTestResult = {
  readonly isSuccess: boolean
  readonly model: string
  readonly durationMs: number
  /** The error code of the failure; empty for a success. */
  readonly reason: string
  /** The model in the answer if it differs from the requested model; otherwise null. */
  readonly otherModel: string | null
  /** The failed attempt; null for a success, or if no request could be sent. */
  readonly end: Extract<AttemptEnd, { readonly kind: 'failed' }> | null
  /** The position of the recorded event; null if no request was sent or the test was aborted. */
  readonly position: number | null
}

/** The deadlines of a channel test. They are short because an admin waits for the result. */
export const CHANNEL_TEST_DEADLINES: Deadlines = {
  ...DEFAULT_DEADLINES,
  firstEventMs: 30_000,
  idleMs: 15_000,
  totalMs: 60_000,
}

/**
 * Sends one minimal request to a channel, even to a disabled one, and records the result. Executes
 * the same code as callers' requests. Rejects only if the result can't be recorded.
 */
export async function testChannel(
  deps: ChannelTestDeps,
  { channel, model = testModelOf(channel), isStream = false, ...why }: ChannelTest,
  deadlines: Deadlines = CHANNEL_TEST_DEADLINES,
): Promise<ChannelTestResult> {
  const request = testRequest(channel, model, isStream)
  const { adapters } = deps.views.options.options
  const candidate =
    typeof request === 'string' ? null : candidateOf(channel, request, true, undefined, adapters)
  const { target, channelId } = channel
  if (target === null || candidate === null || isRelayError(candidate)) {
    const untestable = typeof request === 'string' ? request : 'no-request'
    const reason = target === null ? 'no-address' : untestable
    const failed = { isSuccess: false, end: null, position: null, otherModel: null }
    return { ...failed, model, durationMs: 0, reason }
  }
  const { actor, cause, run = null, signal } = why
  const startedAt = performance.now()
  const end = await sendTest(deps, { target, candidate, deadlines, signal })
  const durationMs = Math.round(performance.now() - startedAt)
  const isSuccess = end.kind === 'answered'
  const reason = isSuccess ? '' : reasonOf(end)
  const otherModel = isSuccess ? otherModelOf(end, candidate, target) : null
  const result = { isSuccess, model, durationMs, reason, otherModel, end: isSuccess ? null : end }
  // The gateway aborted this test, so the result says nothing about the channel.
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
  /** The model's name as the provider sent it. Null or undefined if the answer names no model. */
  readonly answeredModel: string | null | undefined
}

type TestRequest = {
  readonly target: ProviderTarget
  readonly candidate: Candidate
  readonly deadlines: Deadlines
  readonly signal: AbortSignal | undefined
}

const DISCARD = { write: () => true }
const nothing = (): void => {}

/**
 * Returns a forwarder that checks a streamed or binary answer and discards it. Returns null for a
 * plain answer, which needs no forwarder.
 */
function discardingForwarder(format: WireFormat, isStream: boolean): AnswerForwarder | null {
  if (format.hasBinaryAnswer) return new AudioForwarder(DISCARD, false, nothing, nothing)
  return isStream ? new StreamForwarder(format, DISCARD, false, null, nothing) : null
}

async function sendTest(
  { outbound, timer }: ChannelTestDeps,
  { target, candidate, deadlines, signal }: TestRequest,
): Promise<Answered | Failed> {
  const { request } = candidate
  const { format, isStream } = request
  const forwarder = discardingForwarder(format, isStream)
  const attempt = new UpstreamAttempt(format, forwarder, deadlines, {
    decoder: decoderFor(candidate, target, ''),
    adaptAnswer: adapterOf(candidate, target)?.answer,
    // Providers send an image only when it is complete.
    answerStartMs: deadlines[format.name === 'images' ? 'totalMs' : 'firstEventMs'],
  })
  const startedAt = performance.now()
  const watched = {
    onTick: (at: number) => {
      if (at - startedAt > deadlines.totalMs) attempt.abort('timeout')
      attempt.onTick(at)
      return !attempt.isClosed
    },
  }
  const abort = () => attempt.abort('draining')
  timer.add(watched)
  const call = buildProviderCall(candidate, target, {})
  const connections = outbound.via(target.proxy)
  const authorized = authorizedCall(target, call, connections)
  const ended = attempt.start(transportOf(target, connections, call.origin), authorized)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  const end = await ended
  signal?.removeEventListener('abort', abort)
  if (end.status === 401) target.cloud?.dropCredentials()
  if (end.kind === 'plain') {
    const { body: answer } = end
    const rawUsage = format.usageInAnswer(answer)
    return { kind: 'answered', rawUsage, answeredModel: answeredModelIn(format, answer) }
  }
  if (end.kind === 'failed') return end
  const { status } = end
  // The forwarder holds back the last event of a stream, which may be the only one.
  // `delivered.bytes` includes this event.
  const isEmpty = forwarder === null || forwarder.delivered.bytes === 0
  const error = end.error ?? (isEmpty ? 'format' : null)
  if (error === null) {
    const { rawUsage, answeredModel } = forwarder ?? {}
    return { kind: 'answered', rawUsage, answeredModel }
  }
  const event = forwarder?.errorEvent ?? Buffer.alloc(0)
  return { kind: 'failed', status, error, body: event, retryAfterMs: 0 }
}

const MODEL_LENGTH_SHOWN = 128

/**
 * Returns the model in the answer if it differs from the requested model; otherwise null. The
 * result is also null for a provider with deployments, such as Azure, because a deployment may have
 * any name.
 */
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
  const isOutputTotalLessPrompt = channel.target?.isOutputTotalLessPrompt ?? false
  const { format, body } = request
  const report = format.readUsage(rawUsage, { ...bounds, body, isOutputTotalLessPrompt })
  if (!report.isTrusted) return null
  const { inputUncached, cacheRead, cacheWrite5m, inputAudio, inputImage, output } = report.usage
  return { input: inputUncached + cacheRead + cacheWrite5m + inputAudio + inputImage, output }
}
