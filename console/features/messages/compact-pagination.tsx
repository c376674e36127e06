import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'

/**
 * The page buttons of a list of users inside a form. Unlike the page buttons of a page's main list,
 * they have no keyboard shortcuts and no choice of the page size.
 */
export function CompactPagination(props: {
  page: number
  pageSize: number
  total: number
  onPage: (page: number) => void
}) {
  const { t } = useTranslation()
  const { page } = props
  const pages = Math.ceil(props.total / props.pageSize)
  if (pages <= 1) return null
  return (
    <nav className="tg-small-pages" aria-label={t('ui.pageOf', { page: page + 1, pages })}>
      <span>{t('ui.pageOf', { page: page + 1, pages })}</span>
      <Button
        size="small"
        icon="chevronLeft"
        label={t('messages.previousUsers')}
        isDisabled={page <= 0}
        onClick={() => props.onPage(page - 1)}
      />
      <Button
        size="small"
        icon="chevronRight"
        label={t('messages.nextUsers')}
        isDisabled={page + 1 >= pages}
        onClick={() => props.onPage(page + 1)}
      />
    </nav>
  )
}
