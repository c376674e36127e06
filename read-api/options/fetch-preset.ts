import { request } from 'undici'
import type { Outbound } from '#infra/outbound/dispatcher.ts'
import { readOutputCapList, readPresetList } from './preset-list.ts'

export const LIST_BYTES_MAX = 2 * 1024 * 1024
const TIME_MAX_MS = 10_000

type Lists = {
  readonly prompt: Record<string, string>
  readonly completion: Record<string, string>
  readonly max_output: Record<string, string>
}

/** The lists below the address; null where one can't be had or is none, whatever the reason. */
export async function fetchPreset(
  outbound: Outbound,
  base: string,
  source: string,
  hasPrompt: boolean,
): Promise<Lists | null> {
  try {
    const textAt = (name: string) =>
      textOf(outbound, `${base.replace(/\/+$/, '')}/${source}/${name}.json`)
    const list = async (name: string) => {
      const found = readPresetList((await textAt(name)) ?? '')
      if (found === null) throw new Error('no map of ratios')
      return Object.fromEntries(found)
    }
    // Addresses that were set up before there were output limits have no such list.
    const caps = async () => {
      const found = readOutputCapList((await textAt('max_output')) ?? '{}')
      if (found === null) throw new Error('no map of output limits')
      return Object.fromEntries(found)
    }
    const [prompt, completion, max_output] = await Promise.all([
      hasPrompt ? list('prompt') : {},
      list('completion'),
      hasPrompt ? caps() : {},
    ])
    return { prompt, completion, max_output }
  } catch {
    return null
  }
}

/** Null where there is no such file; storage services answer 403 for those as well. */
async function textOf({ dispatcher }: Outbound, url: string): Promise<string | null> {
  const { statusCode, body } = await request(url, {
    dispatcher,
    headers: { accept: 'application/json', 'accept-encoding': 'identity' },
    signal: AbortSignal.timeout(TIME_MAX_MS),
  })
  if (statusCode !== 200) {
    await body.dump()
    if (statusCode === 404 || statusCode === 403) return null
    throw new Error(`answered ${statusCode}`)
  }
  return body.text()
}
