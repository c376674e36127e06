import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { useRegisterActions } from '../actions/action-registry.ts'
import { Button } from '../elements/button.tsx'
import type { IconName } from '../elements/icons.tsx'
import { Select } from '../forms/inputs.tsx'
import { useLocalPreference } from '../state/use-local-preference.ts'
import { PAGE_SIZES, type PageSize } from './list-url-params.ts'

/**
 * Returns the page size that the user has chosen, and a function that changes this size. The page
 * size is stored in this browser under `key`, which several lists can share.
 */
export function usePageSize(
  key = 'page-size',
  fallback: PageSize = 10,
): [PageSize, (size: PageSize) => void] {
  return useLocalPreference<PageSize>(
    key,
    fallback,
    (stored) => PAGE_SIZES.find((size) => size === Number(stored)) ?? null,
  )
}

/**
 * Opens a page of the list. With `replace`, the current entry in the browser's history is replaced,
 * for example if the current page no longer exists.
 */
type GoTo = (page: number, how?: { replace: boolean }) => void

export type Paging = {
  page: number
  pageSize: PageSize
  total: number
  /** True if there are more rows than the server counts. `total` is then a minimum. */
  isCapped?: boolean
  onPage: GoTo
  onPageSize: (size: PageSize) => void
}

/**
 * Returns the values from which the page buttons of a list are rendered. When the page size
 * changes, the first page is opened.
 */
export const pagingOf = (
  { page, total = 0 }: { page: number; total: number | undefined },
  [pageSize, setPageSize]: ReturnType<typeof usePageSize>,
  goTo: GoTo,
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

/**
 * The bar below a list with the number of rows, the page size, and the buttons that open other
 * pages. The bar is hidden if the list has no rows. `page` starts at 0.
 */
export function Pagination(props: Paging) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { page, pageSize, total } = props
  const pages = Math.max(1, Math.ceil(total / pageSize))
  useRegisterActions([
    pageCommand(t('ui.previousPage'), '[', page > 0, () => props.onPage(page - 1)),
    pageCommand(t('ui.nextPage'), ']', page + 1 < pages, () => props.onPage(page + 1)),
  ])
  useLastPage(props, pages)
  if (total === 0) return null
  const more = props.isCapped === true ? '+' : ''
  const range = {
    from: number.format(page * pageSize + 1),
    to: number.format(Math.min(total, (page + 1) * pageSize)),
    total: number.format(total) + more,
  }
  const place = t('ui.pageOf', {
    page: number.format(page + 1),
    pages: number.format(pages) + more,
  })
  return (
    <nav className="tg-pagination" aria-label={place}>
      <div className="tg-pagination-range">
        <span>{t('ui.rangeOf', range)}</span>
        {pages > 1 && <span>{place}</span>}
      </div>
      <div className="tg-pagination-turns">
        <Select
          aria-label={t('ui.pageSize')}
          value={String(pageSize)}
          choices={PAGE_SIZES.map((size) => ({ value: String(size), label: String(size) }))}
          onChange={(value) => props.onPageSize(Number(value) as PageSize)}
        />
        <PageButtons {...props} pages={pages} />
      </div>
    </nav>
  )
}

/** Reports whether the page no longer exists, for example because rows were deleted. */
export const isBeyondLastPage = ({ page, pageSize, total, isCapped }: Paging): boolean =>
  total > 0 && page * pageSize >= total && isCapped !== true

function useLastPage(paging: Paging, pages: number): void {
  const isBeyond = isBeyondLastPage(paging)
  const { onPage } = paging
  // biome-ignore lint/correctness/useExhaustiveDependencies: each rendering creates a new function
  useEffect(() => {
    if (isBeyond) onPage(pages - 1, { replace: true })
  }, [isBeyond, pages])
}

function PageButtons({ page, pages, isCapped, onPage }: Paging & { pages: number }) {
  const { t } = useTranslation()
  const pageButton = (icon: IconName, label: string, to: number) => (
    <Button
      icon={icon}
      label={label}
      isDisabled={to < 0 || to >= pages || to === page}
      onClick={() => onPage(to)}
    />
  )
  const hasFirstAndLastButtons = pages > 2
  return (
    <>
      {hasFirstAndLastButtons && pageButton('chevronsLeft', t('ui.firstPage'), 0)}
      {pageButton('chevronLeft', t('ui.previousPage'), page - 1)}
      {pageButton('chevronRight', t('ui.nextPage'), page + 1)}
      {/* The last page is unknown if the server has not counted all rows. */}
      {hasFirstAndLastButtons &&
        isCapped !== true &&
        pageButton('chevronsRight', t('ui.lastPage'), pages - 1)}
    </>
  )
}

const pageCommand = (title: string, keys: string, isOn: boolean, openPage: () => void) => ({
  id: `page-${keys}`,
  title,
  keys,
  isKeyOnly: true,
  perform: () => {
    if (isOn) openPage()
  },
})
