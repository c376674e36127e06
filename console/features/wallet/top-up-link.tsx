import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { useStatus } from '#console/api/status/status.ts'
import { Button } from '#console/ui/button.tsx'
import { showError } from '#console/ui/toast.ts'

/** Opens the shop that the super admin has named, in a tab of its own. */
export function TopUpLink(): ReactElement {
  const { t } = useTranslation()
  const link = useStatus()?.top_up_link ?? ''
  const open = (): void => {
    if (!/^https?:\/\//.test(link)) showError(t('wallet.noLink'))
    else window.open(link, '_blank', 'noopener,noreferrer')
  }
  return (
    <Button endIcon="external" onClick={open}>
      {t('wallet.getCode')}
    </Button>
  )
}
