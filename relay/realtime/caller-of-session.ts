import { type AccessCheck, accessCheck } from '../pipeline/access-check-of-running-calls.ts'
import { type Caller, groupOfCaller } from '../pipeline/authenticate.ts'
import type { Exchange } from '../pipeline/http-exchange.ts'
import { groupError } from '../pipeline/model-access-errors.ts'
import { callerInOfferingGroup } from '../pipeline/plan-call.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import type { RelayToken } from '../views/token-view.ts'

/**
 * The caller of a session. Its token, user and group may change while the session is open. Each
 * response and transcription is a call that is planned and priced with their state when quota is
 * held for it. Quota for a response to speech is held before the speech.
 */
export class CallerOfSession {
  private readonly deps: RelayDeps
  private readonly model: string
  private readonly exchange: Pick<Exchange, 'clientIp' | 'call'>
  private readonly tokenAtStart: RelayToken
  private caller: Caller
  private check: AccessCheck

  constructor(
    deps: RelayDeps,
    caller: Caller,
    model: string,
    exchange: Pick<Exchange, 'clientIp' | 'call'>,
  ) {
    this.deps = deps
    this.model = model
    this.exchange = exchange
    this.tokenAtStart = caller.token
    this.caller = caller
    this.check = accessCheck(deps, caller, exchange)
  }

  /**
   * The caller with the current token, user and group. Once the token is deleted, this is the last
   * state, by which the work that the provider has already done is charged.
   */
  get current(): Caller {
    const { views } = this.deps
    const { token: earlierToken, user: earlierUser } = this.caller
    const token = views.tokens.find(earlierToken.keyLookup)
    const user = views.users.find(earlierUser.userId)
    const isUnchanged = token === earlierToken && user === earlierUser
    if (token === undefined || user === undefined || isUnchanged) return this.caller
    const changed = { ...this.caller, token, user }
    const group = groupOfCaller(token, user)
    if (group === groupOfCaller(earlierToken, earlierUser)) {
      this.caller = changed
      return changed
    }
    this.caller = callerInOfferingGroup(views, { ...changed, group }, this.model, 'realtime')
    // The check must see that the token has changed, because its IP list may have changed, too.
    const ofGroup = { ...this.caller, token: this.tokenAtStart }
    this.check = accessCheck(this.deps, ofGroup, this.exchange)
    return this.caller
  }

  /**
   * Checks whether the session may continue in the current group. The group of the token is checked
   * as well, because it is `auto` if the session uses one of the groups of `auto`.
   */
  readonly access: AccessCheck = () => {
    // Reading the caller replaces the check if the group has changed.
    const { token, user } = this.current
    const group = groupOfCaller(token, user)
    return this.check() ?? groupError({ group, user }, this.deps.views.options.options)
  }
}
