import type { PreviewPrices, PricePreview } from '#write-api/contract/option.ts'
import { request } from '../request.ts'

export async function previewPrices(body: PreviewPrices): Promise<PricePreview> {
  return (await request<PricePreview>({ method: 'POST', path: '/api/option/price_preview', body }))
    .data
}
