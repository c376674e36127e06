import { useTranslation } from 'react-i18next'
import { Icon } from '#console/ui/elements/icons.tsx'

export function PlainHttpWarning() {
  const { t } = useTranslation()
  if (window.isSecureContext) return null
  return (
    <p className="tg-plain-http" role="note">
      <Icon name="alert" />
      <span>{t('request.plainHttp')}</span>
    </p>
  )
}
