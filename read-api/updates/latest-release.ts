import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onlyAdmin } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { errorsOf } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { createOutbound, type Outbound } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { statusQueries } from '../contract/status.ts'
import { fetchJson } from '../fetch-json.ts'
import { currentOptions } from '../options/current-options.ts'
import { type App, type ReadDeps, upToDate } from '../read-dependencies-and-query-parameters.ts'

const VERSION = /^v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(-[\w.-]+)?(?:\+.*)?$/i

/**
 * Reports whether the version `latest` is newer than `current`. A text that is not a version is
 * never newer.
 */
export function isNewer(latest: string, current: string): boolean {
  const [candidate, running] = [VERSION.exec(latest.trim()), VERSION.exec(current.trim())]
  if (candidate === null || running === null) return false
  for (const part of [1, 2, 3]) {
    const difference = Number(candidate[part] ?? 0) - Number(running[part] ?? 0)
    if (difference !== 0) return difference > 0
  }
  // A final release is newer than the release candidates of the same version.
  return candidate[4] === undefined && running[4] !== undefined
}

const PACKAGE = join(import.meta.dirname, '../../package.json')
const DAY_MS = 86_400_000
const LIMITS = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 5_000,
  bodyTimeoutMs: 5_000,
  maxResponseBytes: 1024 * 1024,
}

const updateError = errorsOf({
  UpdateCheckUnset: [
    200,
    {
      zh: '请先填写最新版本的地址并保存',
      en: 'Enter and save the address of the latest release first',
    },
  ],
  UpdateCheckFailed: [
    200,
    { zh: '检查更新失败，请稍后再试', en: 'The update check failed. Try again later' },
  ],
})

type LastCheck = {
  readonly url: string
  readonly at: number
  readonly release: Release | null
}

/**
 * `GET /api/option/latest_release`, for admins: the latest release, as the configured address
 * describes it. The address is requested at most once a day, and only if the automatic check is
 * enabled. With `is_forced=true`, the address is always requested. Throws an error if the last
 * request to the address failed, or if a forced check finds no configured address.
 */
export function latestRelease(app: App, { core, ...deps }: ReadDeps): void {
  const { version: current } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }
  const none = { current, latest: '', notes: '', is_newer: false, checked_at: 0 }
  let outbound: Outbound | null = null
  let last: LastCheck | null = null
  app.addHook('onClose', async () => outbound?.close())
  app.route({
    ...endpoint(statusQueries, 'GET /api/option/latest_release'),
    onRequest: onlyAdmin,
    preHandler: upToDate({ core, ...deps }, 'options'),
    handler: async ({ query }) => {
      const options = await currentOptions(core)
      const isForced = query.is_forced === 'true'
      const url = options.text('UpdateCheckUrl')
      if (!isForced && (url === '' || !options.flag('UpdateCheckEnabled'))) return success(none)
      if (url === '') throw updateError('UpdateCheckUnset')
      const isFresh = last?.url === url && core.now() - last.at < DAY_MS
      if (isForced || !isFresh) {
        outbound ??= createOutbound(operatorPolicy(core.config), LIMITS)
        last = {
          url,
          at: core.now(),
          release: await fetchRelease(outbound, url),
        }
      }
      if (last === null || last.release === null) throw updateError('UpdateCheckFailed')
      const { version: latest, notes } = last.release
      const checkedAt = Math.floor(last.at / 1_000)
      return success({
        current,
        latest,
        notes,
        checked_at: checkedAt,
        is_newer: isNewer(latest, current),
      })
    },
  })
}

type Release = { readonly version: string; readonly notes: string }

const VERSION_LENGTH_MAX = 100
const NOTES_LENGTH_MAX = 20_000

/**
 * Requests the description of the latest release. Returns null if the request fails or the response
 * is not a description of a release.
 */
async function fetchRelease(outbound: Outbound, url: string): Promise<Release | null> {
  return releaseOf(await fetchJson(outbound, url))
}

function releaseOf(response: unknown): Release | null {
  const { tag_name: version, body: notes } = Object(response) as Record<string, unknown>
  if (typeof version !== 'string' || version.trim() === '') return null
  return {
    version: version.trim().slice(0, VERSION_LENGTH_MAX),
    notes: typeof notes === 'string' ? notes.slice(0, NOTES_LENGTH_MAX) : '',
  }
}
