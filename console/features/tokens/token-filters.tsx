import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Select, TextInput } from '#console/ui/inputs.tsx'
import { SearchInput } from '#console/ui/search-input.tsx'

export const STATUSES = ['1', '2', '3', '4'] as const
export type StatusFilter = '' | (typeof STATUSES)[number]

const STATE_WORDS = { 1: 'enabled', 2: 'disabled', 3: 'expired', 4: 'exhausted' } as const

export type TokenFilter = { keyword: string; status: StatusFilter }

/**
 * By name, status and key. NOTE: a key that is sought is a secret, so it is kept out of the
 * address, where history and shared links would show it.
 */
export function TokenFilters(props: {
  filter: TokenFilter
  soughtKey: string
  onChange: (patch: Partial<TokenFilter>, isTyping: boolean) => void
  onSeekKey: (key: string) => void
}): ReactElement {
  const { t } = useTranslation()
  const { keyword, status } = props.filter
  const choices = [
    { value: '' as const, label: t('tokens.anyStatus') },
    ...STATUSES.map((value) => ({ value, label: t(`tokens.state.${STATE_WORDS[value]}`) })),
  ]
  return (
    <>
      <SearchInput
        icon="search"
        label={t('tokens.search')}
        value={keyword}
        onChange={(value) => props.onChange({ keyword: value }, true)}
      />
      <TextInput
        type="search"
        icon="key"
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        aria-label={t('tokens.searchKey')}
        placeholder={t('tokens.searchKey')}
        value={props.soughtKey}
        onChange={props.onSeekKey}
      />
      <Select
        aria-label={t('tokens.status')}
        value={status}
        choices={choices}
        onChange={(value) => props.onChange({ status: value }, false)}
      />
    </>
  )
}
