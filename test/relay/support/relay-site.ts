import { expect } from 'vitest'
import { readConfig } from '#infra/config/read-config.ts'
import type { ConsoleClient } from '#infra/demo/management-api-client.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { startProduct } from '#infra/start.ts'
import { startCore } from '#infra/start-core.ts'
import { startSite } from '#test/support/multi-process-site.ts'
import type { ProductProcess } from '#test/support/product-process.ts'
import { setUpSite } from '#test/support/test-product.ts'

/** A site whose relays run in separate processes, which tests can kill. */
export type RelaySite = {
  readonly root: ConsoleClient
  /** The process of the management API and the read models. */
  readonly office: ProductProcess
  /** Starts a relay with the site's environment and `more` variables. */
  readonly startRelay: (more?: Readonly<Record<string, string>>) => Promise<ProductProcess>
  readonly databaseUrl: string
  /** The events, read in this process without any relay. */
  readonly store: EventStore
  /** Stops the office, and expects every read model to equal the fold of the events. */
  readonly expectReadModelsToEqualTheFold: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Sets up a site without relays. `relayOptions` are the `NODE_OPTIONS` of each relay. */
export async function startRelaySite(relayOptions: string): Promise<RelaySite> {
  const site = await startSite()
  const office = await site.start('write-api,read-api,projections')
  const environment = { ...site.environment, LOG_LEVEL: 'silent', PORT: '0', ROLES: 'projections' }
  const { core, close } = await startCore(readConfig(environment))
  return {
    root: await setUpSite(office.url),
    office,
    startRelay: (more = {}) =>
      site.start('relay', { NODE_OPTIONS: relayOptions, LOG_LEVEL: 'error', ...more }),
    databaseUrl: site.environment.DATABASE_URL,
    store: core.store,
    expectReadModelsToEqualTheFold: async () => {
      expect(await office.stop()).toBe(0)
      const running = await startProduct({ ...core.config, roles: new Set(['projections']) })
      const head = await running.core.store.headPosition()
      await expect
        .poll(() => [...(running.projections?.positions() ?? [])].every(([, at]) => at >= head))
        .toBe(true)
      const verdicts = await running.projections?.verify()
      await running.stop(0)
      expect(verdicts?.length).toBeGreaterThan(5)
      expect(verdicts?.filter(({ isEqual }) => !isEqual)).toEqual([])
    },
    close: async () => {
      await close()
      await site.close()
    },
  }
}
