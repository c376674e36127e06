import { request } from 'undici'
import type { Outbound } from '#infra/outbound/dispatcher.ts'
import { readPresetList } from './preset-list.ts'

export const LIST_BYTES_MAX = 2 * 1024 * 1024
const TIME_MAX_MS = 10_000

type Lists = {
  readonly prompt: Record<string, string>
  readonly completion: Record<string, string>
}

/** The lists below the address; null where one can't be had or is none, whatever the reason. */
export async function fetchPreset(
  outbound: Outbound,
  base: string,
  source: string,
  hasPrompt: boolean,
): Promise<Lists | null> {
  try {
    const list = async (name: string) => {
      const url = `${base.replace(/\/+$/, '')}/${source}/${name}.json`
      const found = readPresetList(await textOf(outbound, url))
      if (found === null) throw new Error('no map of ratios')
      return Object.fromEntries(found)
    }
    const [prompt, completion] = await Promise.all([
      hasPrompt ? list('prompt') : {},
      list('completion'),
    ])
    return { prompt, completion }
  } catch {
    return null
  }
}

async function textOf({ dispatcher }: Outbound, url: string): Promise<string> {
  const { statusCode, body } = await request(url, {
    dispatcher,
    headers: { accept: 'application/json', 'accept-encoding': 'identity' },
    signal: AbortSignal.timeout(TIME_MAX_MS),
  })
  if (statusCode !== 200) {
    await body.dump()
    throw new Error(`answered ${statusCode}`)
  }
  return body.text()
}
