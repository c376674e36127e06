import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '#console/ui/icons.tsx'

/** What everybody on the way can read is said, for as long as it is so; this machine is no way. */
export function PlainHttp(): ReactElement | null {
  const { t } = useTranslation()
  if (window.isSecureContext) return null
  return (
    <p className="tg-plain-http" role="note">
      <Icon name="alert" />
      <span>{t('request.plainHttp')}</span>
    </p>
  )
}
