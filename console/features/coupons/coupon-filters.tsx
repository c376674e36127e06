import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Select } from '#console/ui/inputs.tsx'
import { SearchInput } from '#console/ui/search-input.tsx'
import { type CouponFilter, STATUSES } from './use-coupon-list.ts'

const WORDS = { 1: 'unused', 2: 'disabled', 3: 'used' } as const

/** By name, id or a whole key, and by status. */
export function CouponFilters(props: {
  filter: CouponFilter
  onChange: (patch: Partial<CouponFilter>, isTyping: boolean) => void
}): ReactElement {
  const { t } = useTranslation()
  const choices = [
    { value: '' as const, label: t('coupons.anyStatus') },
    ...STATUSES.map((value) => ({ value, label: t(`coupons.state.${WORDS[value]}`) })),
  ]
  return (
    <>
      <SearchInput
        icon="search"
        label={t('coupons.search')}
        value={props.filter.keyword}
        onChange={(keyword) => props.onChange({ keyword }, true)}
      />
      <Select
        aria-label={t('coupons.status')}
        value={props.filter.status}
        choices={choices}
        onChange={(status) => props.onChange({ status }, false)}
      />
    </>
  )
}
