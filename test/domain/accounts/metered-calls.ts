import { quotaAvailableToToken } from '#domain/accounts/affordable-terms.ts'
import type { AccountCommand } from '#domain/accounts/commands.ts'
import { accountDecider } from '#domain/accounts/decide.ts'
import type { AccountEvent } from '#domain/accounts/events.ts'
import { HOUR_CACHE } from '#domain/channels/restricted-request-members.ts'
import type { PriceSnapshot } from '#domain/pricing/price-snapshot.ts'
import { NO_USAGE, type Usage } from '#domain/pricing/usage.ts'
import { offerOf } from '#domain/routing/channels-by-group-and-model.ts'
import { type CodedError, isCodedError } from '#domain/shared/coded-error.ts'
import { fromWire, type Quota } from '#domain/shared/quota.ts'
import {
  type CountableText,
  DeliveredText,
  textOfAnswer,
} from '#relay/canonical/answer-text-for-token-count.ts'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { withAllowedCache } from '#relay/dialects/detect-and-shorten-one-hour-caching.ts'
import { readChatRequest } from '#relay/dialects/openai-chat/chat-format.ts'
import { readChatTexts } from '#relay/dialects/openai-chat/read-chat-texts.ts'
import type { ChatRequest } from '#relay/dialects/wire-format.ts'
import { type Delivery, meter, usageSoFar } from '#relay/pipeline/billed-usage.ts'
import { callTerms } from '#relay/pipeline/compute-hold-and-output-limit.ts'
import { isWorthCounting, termsForInput } from '#relay/pipeline/hold-after-token-count.ts'
import { isClearlyAffordable } from '#relay/pipeline/hold-quota-and-admit-call.ts'
import { OutputHoldTracker } from '#relay/pipeline/output-hold-tracker.ts'
import type { Candidate } from '#relay/pipeline/prepare-request-for-channel.ts'
import type { RelayChannel } from '#relay/views/channel-view.ts'
import { OptionView } from '#relay/views/option-view.ts'
import type { Views } from '#relay/views/start-views.ts'

export const USER = 7
const LEASE_MS = 1_000

/** A model that the generated calls request. */
export type Model = {
  readonly name: string
  readonly price: PriceSnapshot
  /** The maximum number of output tokens per choice, or null if the gateway knows no limit. */
  readonly outputCap: number | null
}

export type CallRequest = {
  readonly model: Model
  readonly tokenId: number
  readonly isStream: boolean
  readonly maxTokens: number | null
  /** The limit with which a channel overrides the caller's limit, or null. */
  readonly override: number | null
  readonly choices: number
  /** The length of the message. If the quota is low, the tokens of a long message are counted. */
  readonly textBytes: number
  /** The upper bound of the counted tokens, as a share of the body's length. */
  readonly countedShare: number
  /** True if the request stores its message in the one-hour cache. */
  readonly hasHourCache: boolean
  /** True if the channel keeps such a mark. Other channels shorten it. */
  readonly allowsHourCache: boolean
}

/**
 * The usage that the provider reports, and the factor between the gateway's exact count and its
 * rough count.
 */
export type Report = {
  readonly rawUsage: unknown
  readonly isWhole: boolean
  readonly countFactor: number
}

/** One user's account: the decider without a store. */
export class Account {
  state = accountDecider.initialState()
  readonly events: AccountEvent[] = []
  private readonly onEvent: (event: AccountEvent) => void

  constructor(onEvent: (event: AccountEvent) => void) {
    this.onEvent = onEvent
  }

  /** Applies the events of the command and returns them, or returns the error. */
  handle(command: AccountCommand): readonly AccountEvent[] | CodedError {
    const outcome = accountDecider.decide(command, this.state)
    if (isCodedError(outcome)) return outcome
    for (const event of outcome) {
      this.events.push(event)
      this.state = accountDecider.evolve(this.state, event)
      this.onEvent(event)
    }
    return outcome
  }
}

const offerAllowing = (allowedMembers: ReadonlySet<string>) =>
  offerOf([
    {
      ...{ id: 1, terms: { priority: 0, weight: 1 } },
      rules: { allowedMembers },
    } as unknown as RelayChannel,
  ])

/**
 * One call, as the relay's pipeline runs it. `callTerms` and `termsForInput` compute the hold,
 * `OutputHoldTracker` decides when the hold must grow and when a stream ends, and `meter` computes
 * the bill. The steps have the order of `RunningCall`, without its sockets and clocks.
 */
export class MeteredCall {
  readonly id: string
  readonly request: CallRequest
  /** True if the call may exceed its hold by one progress step, as the README allows. */
  readonly isOpenEnded: boolean
  /** True if the hold is based on counted input tokens, and not on the length of the request. */
  readonly isCounted: boolean
  /** True after the call's owner has died. Then nothing happens until the sweeper ends the call. */
  isOrphaned = false
  private readonly account: Account
  private readonly chat: ChatRequest
  private readonly outputHold: OutputHoldTracker
  private readonly delivered = new DeliveredText(readChatTexts)
  private readonly inputTokens: number
  /** The result of `RaiseHold` that the stream has not processed yet. */
  private answer: { readonly hold: Quota | null } | null = null
  private hold: Quota
  private isSpent = false
  private isPaused = false
  private isCut = false

  private constructor(
    account: Account,
    id: string,
    request: CallRequest,
    admitted: {
      readonly chat: ChatRequest
      readonly hold: Quota
      readonly isReduced: boolean
      readonly isCounted: boolean
      readonly outputHold: OutputHoldTracker
    },
  ) {
    const { model, maxTokens, isStream } = request
    this.account = account
    this.id = id
    this.request = request
    this.chat = admitted.chat
    this.hold = admitted.hold
    this.outputHold = admitted.outputHold
    this.inputTokens = Math.ceil(admitted.chat.body.length / 4)
    const hasLimit = maxTokens !== null || model.outputCap !== null || admitted.isReduced
    this.isCounted = admitted.isCounted
    this.isOpenEnded = isStream && !hasLimit && model.price.mode === 'tokens'
  }

  /** Returns null if the account refuses the call. */
  static admit(
    account: Account,
    id: string,
    request: CallRequest,
    defaultOutputCap: number,
    preConsumedQuota: bigint,
  ): MeteredCall | null {
    const { model, tokenId, isStream, choices, override } = request
    const { price } = model
    const chat = chatRequestOf(request)
    const allowed = new Set(request.allowsHourCache ? [HOUR_CACHE] : [])
    const { request: sent } = withAllowedCache(chat, allowed)
    const overridden = override === null ? [] : [{ ...sent, outputTokensMax: override }]
    const options = optionsOf(model, defaultOutputCap, preConsumedQuota)
    const byLength = callTerms(price, [chat, ...overridden], options)
    const plan = { price, terms: byLength, isOverridden: true, offer: offerAllowing(allowed) }
    const isCounted =
      isWorthCounting(chat, plan) &&
      !isClearlyAffordable(plan, quotaAvailableToToken(account.state, tokenId))
    const forms = [chat, ...overridden] as const
    const most = forms.map(({ body }) => Math.ceil(body.length * request.countedShare))
    const view = { options } as Views['options']
    const terms = isCounted ? termsForInput(view, plan, forms, most) : byLength
    const { hold, reduction } = terms
    const outcome = account.handle({
      type: 'AdmitCall',
      userId: USER,
      call: id,
      tokenId,
      model: model.name,
      group: 'default',
      isStream,
      hold,
      ...(reduction === null ? {} : { reduction }),
      price,
      calls: choices,
      leaseUntil: LEASE_MS,
      clientIp: null,
      startedAt: 0,
    })
    const [event] = isCodedError(outcome) ? [] : outcome
    if (event?.type !== 'CallAdmitted') return null
    const outputLimit = event.data.outputLimit ?? null
    const outputHold = new OutputHoldTracker(price, terms, outputLimit)
    const isReduced = outputLimit !== null
    return new MeteredCall(account, id, request, {
      ...{ chat: sent, outputHold, isReduced, isCounted },
      hold: fromWire(event.data.hold),
    })
  }

  /**
   * Delivers this many words of the provider, each of one token by the rough count. A paused stream
   * ignores them.
   */
  deliver(words: number): void {
    if (this.isOrphaned || this.isCut || this.isPaused) return
    this.delivered.add(answerEvent(words))
    if (this.request.isStream) this.checkOutputHold()
  }

  /** Processes the result of the request for a larger hold. */
  learnHold(): void {
    const { answer } = this
    if (this.isOrphaned || answer === null) return
    this.answer = null
    this.isPaused = false
    if (answer.hold === null || answer.hold <= this.hold) this.isSpent = true
    else {
      this.hold = answer.hold
      this.outputHold.noteHold(answer.hold)
    }
    this.checkOutputHold()
  }

  /** Renews the lease. Ends the call if its account has been emptied. */
  recordProgress(rawUsage: unknown): void {
    if (this.isOrphaned || this.isCut) return
    const leaseUntil = LEASE_MS + this.account.events.length
    const progress = { channelId: 1, usage: this.usageSoFar(rawUsage), leaseUntil }
    const outcome = this.account.handle({ type: 'RecordProgress', call: this.id, ...progress })
    if (isCodedError(outcome)) this.isCut = true
  }

  async settle({ rawUsage, isWhole, countFactor }: Report): Promise<void> {
    const said = this.said()
    const delivery: Delivery = {
      rawUsage,
      answeredModel: null,
      readText: () => said,
      isComplete: isWhole && !this.isCut,
      chargesInput: true,
    }
    const counter = {
      count: async ({ text }: { readonly text: string }) => ({
        input: this.inputTokens,
        output: Math.ceil((text.length / 4) * countFactor),
        inputMost: this.inputTokens,
      }),
    }
    const limits = this.outputHold.limits()
    const metered = await meter(delivery, this.candidate, counter, limits, this.outputHold.price)
    this.account.handle({
      ...{ type: 'SettleCall', call: this.id, channelId: 1, upstreamModel: null },
      ...{ ...metered, limits },
      end: delivery.isComplete ? 'done' : 'incomplete',
      attempts: [],
      timings: { startedAt: 0, firstByteMs: null, durationMs: 1 },
    })
  }

  /**
   * Simulates the sweeper, which ends the call after its owner has died and the lease has expired.
   */
  interrupt(): void {
    const at = LEASE_MS + this.account.events.length + 1
    this.account.handle({ type: 'InterruptCall', call: this.id, at })
  }

  private checkOutputHold(): void {
    const verdict = this.outputHold.decide(this.delivered)
    if (verdict === 'continue') return
    if (verdict === 'over-limit' || (verdict === 'wait' && this.isSpent)) {
      this.isCut = true
      return
    }
    if (verdict === 'wait') this.isPaused = true
    if (this.isSpent || this.answer !== null) return
    const raised = this.outputHold.nextHold()
    const outcome = this.account.handle({ type: 'RaiseHold', call: this.id, ...raised })
    const [event] = isCodedError(outcome) ? [] : outcome
    const held = event?.type === 'HoldRaised' ? fromWire(event.data.hold) : this.hold
    this.answer = { hold: isCodedError(outcome) ? null : held }
  }

  private usageSoFar(rawUsage: unknown): Usage {
    if (!this.request.isStream || this.delivered.bytes === 0) return NO_USAGE
    const output = this.delivered.estimateTokens()
    const counted = { ...NO_USAGE, inputUncached: this.inputTokens, output }
    const { outputHold, candidate } = this
    return usageSoFar(rawUsage, counted, candidate, outputHold.limits(), outputHold.price)
  }

  private get candidate(): Candidate {
    return { request: this.chat, channel: { target: null } } as unknown as Candidate
  }

  private said(): CountableText {
    const said = this.delivered.read()
    if (this.request.isStream) return said
    const choices = [{ message: { content: said.text } }]
    return textOfAnswer(Buffer.from(JSON.stringify({ choices })), readChatTexts)
  }
}

function answerEvent(words: number): Buffer {
  const delta = { content: 'abc '.repeat(words) }
  return Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`)
}

function chatRequestOf(asked: CallRequest): ChatRequest {
  const { model, isStream, maxTokens, choices, textBytes, hasHourCache } = asked
  const text = 'hello '.repeat(Math.ceil(textBytes / 6))
  const cached = [{ type: 'text', text, cache_control: { type: 'ephemeral', ttl: '1h' } }]
  const messages = [{ role: 'user', content: hasHourCache ? cached : text }]
  const limit = maxTokens === null ? {} : { max_tokens: maxTokens }
  const body = { model: model.name, messages, stream: isStream, n: choices, ...limit }
  const request = readChatRequest(Buffer.from(JSON.stringify(body)))
  if (isRelayError(request)) throw new Error(request.code)
  return request
}

function optionsOf({ name, outputCap }: Model, defaultOutputCap: number, preConsumed: bigint) {
  const values = new Map([
    ['MaxOutputTokens', JSON.stringify(outputCap === null ? {} : { [name]: outputCap })],
    ['DefaultMaxOutputTokens', String(defaultOutputCap)],
    ['PreConsumedQuota', String(preConsumed)],
  ])
  return new OptionView(values, 1).options
}
