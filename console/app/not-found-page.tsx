import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { usePageTitle } from '#console/ui/layout/page.tsx'

export function NotFoundPage() {
  const { t } = useTranslation()
  usePageTitle(t('shell.notFoundTitle'))
  return (
    <div className="tg-message-page">
      <p className="tg-message-code" aria-hidden="true">
        404
      </p>
      <h1>{t('shell.notFound')}</h1>
      <Link className="tg-link-button" to="/">
        {t('shell.backHome')}
      </Link>
    </div>
  )
}
