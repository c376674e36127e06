import type { FastifyInstance } from 'fastify'
import { SUPER_ADMIN } from '#domain/shared/user-roles-and-statuses.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { sealClientAddresses } from '#infra/http/command-context.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { createOutbound } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { latestTestRun } from '#projections/channel-checks/query.ts'
import { isDemoSite } from '#projections/options/query.ts'
import type { Freshness } from '#projections/read-model-freshness/query.ts'
import { startTestSchedule } from '#relay/channel-health/schedule-channel-tests.ts'
import type { RelayDeps } from '#relay/pipeline/relay-deps.ts'
import { applyTestResult, SlowTestCounts } from '../channel-health/apply-test-result.ts'
import { type ActionDeps, type ChannelAction, typedApi } from './channel-action.ts'
import { fetchModels } from './fetch-models.ts'
import { listTypes } from './list-channel-types.ts'
import { PROVIDER_REQUEST_LIMITS } from './send-get-request-to-provider.ts'
import { createTestRuns } from './test-all-channels-in-background.ts'
import { testAllChannels } from './test-all-channels-routes.ts'
import { testOneChannel } from './test-one-channel-route.ts'
import { updateBalance, updateBalances } from './update-balances.ts'
import type { ChannelCheckDeps } from './wait-until-views-are-current.ts'

/**
 * The admin actions for channels. The relay serves these routes of the management API, because most
 * of them send requests to providers, for which only the relay has the code and the connections.
 */
const ACTIONS: readonly ChannelAction[] = [
  listTypes,
  testOneChannel,
  testAllChannels,
  fetchModels,
  updateBalance,
  updateBalances,
]

/**
 * Registers the channel actions in a process without a relay. The API documentation then includes
 * them, but each request gets a 404 error.
 */
export function describeChannelActions(app: FastifyInstance): void {
  app.register(async (scope) => {
    scope.addHook('onRequest', async () => {
      throw httpError('NoSuchRoute')
    })
    // The actions get no dependencies, because the `onRequest` hook ends every request before an
    // action runs.
    const noDeps = {} as ActionDeps
    for (const action of ACTIONS) action(typedApi(scope), noDeps)
  })
}

/** Matches the routes that every admin may use on a demo site. They send nothing to a provider. */
const OPEN = /^\/api\/channel\/(types|test\/progress)$/

/**
 * On a demo site, refuses the routes that do not match `OPEN`, unless the super admin calls them.
 * Most of these routes send requests to providers.
 */
function rejectInDemo(app: FastifyInstance, { db }: Pick<Core, 'db'>): void {
  app.addHook('preValidation', async (request) => {
    if (OPEN.test(request.routeOptions.url ?? '')) return
    if ((request.principal?.role ?? 0) >= SUPER_ADMIN) return
    if (await isDemoSite(db)) throw httpError('DemoSite')
  })
}

type ChannelActions = {
  /** Registers the actions on the management API's app, which checks the session. */
  readonly add: (app: FastifyInstance, freshness: Pick<Freshness, 'waitFor'>) => void
  readonly stop: () => Promise<void>
}

/** Creates the channel actions of a relay and starts the schedule of channel tests. */
export function createChannelActions(core: Core, relay: RelayDeps): ChannelActions {
  const policy = operatorPolicy(core.config)
  const { actors, now, outbound, timer, views } = relay
  const providerOutbound = createOutbound(policy, PROVIDER_REQUEST_LIMITS)
  const testResultDeps = { ...relay, slowTests: new SlowTestCounts() }
  const deps: ChannelCheckDeps = {
    core,
    actors,
    now,
    outbound,
    timer,
    views,
    policy,
    providerOutbound,
    applyTestResult: (...test) => applyTestResult(testResultDeps, ...test),
  }
  const runs = createTestRuns(deps)
  const lastRunAt = async () => (await latestTestRun(core.db))?.startedTime ?? 0
  const schedule = startTestSchedule({ ...core, views, runs, lastRunAt })
  return {
    add: (app, freshness) => {
      app.register(async (scope) => {
        rejectInDemo(scope, core)
        sealClientAddresses(scope, core.vault)
        for (const action of ACTIONS) action(typedApi(scope), { ...deps, runs, freshness })
      })
    },
    stop: async () => {
      await schedule.stop()
      await runs.stop()
      await providerOutbound.close()
    },
  }
}
