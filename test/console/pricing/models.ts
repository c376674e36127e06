import type { PricedModel, Pricing } from '#read-api/contract/pricing.ts'
import type { FakeAnswer } from '../support/fake-site.ts'

export const byTokens = (name: string, rest: Partial<PricedModel> = {}): PricedModel => ({
  model_name: name,
  owner_by: 'OpenAI',
  quota_type: 0,
  model_ratio: 0.075,
  model_price: 0,
  completion_ratio: 4,
  cache_ratio: 0.5,
  create_cache_ratio: 1,
  enable_groups: ['default', 'vip'],
  ...rest,
})

export const byCall = (name: string, price: number, rest: Partial<PricedModel> = {}): PricedModel =>
  byTokens(name, {
    ...{ quota_type: 1, model_ratio: 0, model_price: price, completion_ratio: 1, cache_ratio: 1 },
    ...rest,
  })

/** As in the server's response: two groups, one of which lacks some models. */
export const pricing = (data: PricedModel[], userGroup = 'default'): FakeAnswer => {
  const body: Pricing = {
    ...{ success: true, message: '', data, user_group: userGroup },
    group_ratio: { default: 1, vip: 0.8 },
    usable_group: {
      default: { desc: 'Standard speed', ratio: 1, color: 'blue' },
      vip: { desc: 'Faster lines', ratio: 0.8, color: 'purple' },
    },
  }
  return { body }
}
