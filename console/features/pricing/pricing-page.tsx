import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { useUser } from '#console/api/use-user.ts'
import { Page } from '#console/ui/page.tsx'
import { GroupPicker } from './group-picker.tsx'
import { PriceList } from './price-list.tsx'
import { usePricing } from './use-pricing.ts'
import '#console/ui/forms.css'
import './pricing.css'

/** What every model costs, for anybody: in the default group, or in one's own. */
export function PricingPage(): ReactElement {
  const { t } = useTranslation()
  const view = usePricing()
  const isVisitor = useUser() === null
  return (
    <Page
      title={t('pricing.title')}
      lead={isVisitor ? t('pricing.leadVisitor') : t('pricing.leadUser')}
    >
      <GroupPicker view={view} />
      <PriceList view={view} />
      <section className="tg-price-notes" aria-label={t('pricing.notes')}>
        <p>{t('pricing.noteTokens')}</p>
        <p>{t('pricing.noteCall')}</p>
        <p>{t('pricing.formula')}</p>
      </section>
    </Page>
  )
}
