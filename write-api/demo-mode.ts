import type { FastifyInstance } from 'fastify'
import { optionFlag } from '#domain/options/registry.ts'
import type { Core } from '#infra/core.ts'
import { fault } from '#infra/http/faults.ts'
import { allOptions, siteState } from '#projections/options/query.ts'

/** The first run, the password and going out stay open: who can't come in sees nothing. */
const OPEN = /^\/api\/(setup|user\/(login|logout)(\/.*)?)$/
const ROOT = 100

/** On a demo site nothing is changed by anybody but the super admin, who can end the mode. */
export function refuseInDemo(app: FastifyInstance, core: Core): void {
  app.addHook('preValidation', async (request) => {
    if (OPEN.test(request.routeOptions.url ?? '')) return
    if ((request.principal?.role ?? 0) >= ROOT) return
    if (await isDemoSite(core)) throw fault('DemoSite')
  })
}

async function isDemoSite({ db }: Core): Promise<boolean> {
  const { values } = await allOptions(db)
  if (values.has('DemoSiteEnabled')) return optionFlag(values, 'DemoSiteEnabled')
  return (await siteState(db)).isDemoSite
}
