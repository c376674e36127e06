import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { Button } from './button.tsx'
import type { Command } from './commands/command.ts'
import { useCommands } from './commands/use-commands.ts'
import { Select } from './inputs.tsx'
import type { UrlParam } from './url-state.ts'
import { useLocalPreference } from './use-local-preference.ts'

export const PAGE_SIZES = [10, 20, 50, 100] as const
export type PageSize = (typeof PAGE_SIZES)[number]

/** The page size of lists, remembered under the key that all lists share. */
export function usePageSize(key = 'page-size'): [PageSize, (size: PageSize) => void] {
  return useLocalPreference<PageSize>(
    key,
    10,
    (stored) => PAGE_SIZES.find((size) => size === Number(stored)) ?? null,
  )
}

/** The page size that an address asks for; 0: it doesn't say. */
export const pageSizeParam: UrlParam<PageSize | 0> = {
  fallback: 0,
  read: (text) => PAGE_SIZES.find((size) => String(size) === text) ?? null,
  write: String,
}

export type Paging = {
  page: number
  pageSize: PageSize
  total: number
  /** There are more, which nobody has counted. */
  isCapped?: boolean
  onPage: (page: number) => void
  onPageSize: (size: PageSize) => void
}

/** Of a list whose pages `goTo` asks for; another size begins at the first page again. */
export const pagingOf = (
  { page, total = 0 }: { page: number; total: number | undefined },
  [pageSize, setPageSize]: ReturnType<typeof usePageSize>,
  goTo: (page: number) => void,
): Paging => ({
  page,
  pageSize,
  total,
  onPage: goTo,
  onPageSize: (size) => {
    setPageSize(size)
    goTo(0)
  },
})

/** `page` counts from 0. Nothing where there is nothing to page through. */
export function Pagination(props: Paging): ReactElement | null {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { page, pageSize, total } = props
  const pages = Math.max(1, Math.ceil(total / pageSize))
  useCommands([
    pageCommand(t('ui.previousPage'), '[', page > 0, () => props.onPage(page - 1)),
    pageCommand(t('ui.nextPage'), ']', page + 1 < pages, () => props.onPage(page + 1)),
  ])
  if (total === 0) return null
  const range = {
    from: number.format(page * pageSize + 1),
    to: number.format(Math.min(total, (page + 1) * pageSize)),
    total: number.format(total) + (props.isCapped === true ? '+' : ''),
  }
  return (
    <nav className="tg-pagination" aria-label={t('ui.pageOf', { page: page + 1, pages })}>
      <span className="tg-pagination-range">{t('ui.rangeOf', range)}</span>
      <Select
        aria-label={t('ui.pageSize')}
        value={String(pageSize)}
        choices={PAGE_SIZES.map((size) => ({ value: String(size), label: String(size) }))}
        onChange={(value) => props.onPageSize(Number(value) as PageSize)}
      />
      <Button
        icon="chevronLeft"
        label={t('ui.previousPage')}
        isDisabled={page <= 0}
        onClick={() => props.onPage(page - 1)}
      />
      <Button
        icon="chevronRight"
        label={t('ui.nextPage')}
        isDisabled={page + 1 >= pages}
        onClick={() => props.onPage(page + 1)}
      />
    </nav>
  )
}

const pageCommand = (title: string, keys: string, isOn: boolean, turn: () => void): Command => ({
  id: `page-${keys}`,
  title,
  section: 'page',
  keys,
  isKeyOnly: true,
  act: () => {
    if (isOn) turn()
  },
})
