import { checkOption } from '#domain/options/registry.ts'
import { isPriceOption } from '#domain/pricing/entry-changes.ts'
import { readPriceList } from '#domain/pricing/price-list.ts'
import { onlyAdmin } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { invalidField } from '#infra/http/faults.ts'
import { allOptions } from '#projections/options/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { PreviewPrices, PricePreview } from '#write-api/contract/option.ts'
import type { Act } from '../act.ts'
import { refused } from '../refusals.ts'
import { drafted } from './drafted-bills.ts'

const DAY = 86_400
const DEFAULT_SPAN = 7 * DAY
const SPAN_MAX = 31 * DAY

/**
 * POST /api/option/price_preview: what a draft price list would have charged for the calls of a
 * range, beside what was charged. Writes nothing; one at a time in a process, and bounded in time.
 */
export const previewPrices: Act = (api, deps) => {
  api.post(
    '/api/option/price_preview',
    {
      onRequest: onlyAdmin,
      schema: {
        summary: 'What a draft price list would have charged; writes nothing',
        body: PreviewPrices,
        response: { 200: Envelope(PricePreview) },
      },
    },
    async ({ body }) => {
      const { core, turns } = deps
      const to = body.end_timestamp ?? Math.floor(core.now() / 1_000)
      const from = body.start_timestamp ?? Math.max(0, to - DEFAULT_SPAN)
      if (to < from || to - from > SPAN_MAX) {
        throw invalidField('start_timestamp', {
          zh: '必须早于 end_timestamp，且不超过 31 天',
          en: 'must be before end_timestamp, by 31 days at most',
        })
      }
      const draft = checkedTexts(body.prices)
      const { values, revision } = await allOptions(core.db)
      const list = readPriceList(new Map([...values, ...draft]), revision)
      return success(await turns('price-preview', () => drafted(core, list, { from, to })))
    },
  )
}

function checkedTexts(prices: PreviewPrices['prices']): [key: string, text: string][] {
  return Object.entries(prices).map(([key, text]) => {
    if (!isPriceOption(key)) throw refused('UnknownOption', { key: key.slice(0, 200) })
    const checked = checkOption(key, text)
    if ('refused' in checked) throw refused(checked.refused, checked.details)
    return [key, checked.value]
  })
}
