import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import type { useChosenCoupons } from './use-chosen-coupons.ts'
import type { CouponActs } from './use-coupon-actions.ts'

/** What can be done to the selected codes; nothing while none is. */
export function ChosenCoupons(props: {
  chosen: ReturnType<typeof useChosenCoupons>
  acts: CouponActs
}): ReactElement | null {
  const { t } = useTranslation()
  const { acts, chosen } = props
  const { picked, choosable } = chosen
  const disable = async () => {
    await acts.disable(picked)
    chosen.chooseNone()
  }
  if (picked.length === 0) return null
  return (
    <fieldset className="tg-chosen tg-bulk" aria-label={t('coupons.chosenLabel')}>
      <div className="tg-chosen-part">
        <span role="status">{t('coupons.chosen', { count: picked.length })}</span>
        {choosable > 0 && (
          <Button tone="quiet" size="small" onClick={() => void chosen.chooseAll()}>
            {t('coupons.chooseMatching', { count: choosable })}
          </Button>
        )}
        <Button tone="quiet" size="small" onClick={chosen.chooseNone}>
          {t('coupons.chooseNone')}
        </Button>
      </div>
      <div className="tg-chosen-part">
        <Button size="small" icon="copy" onClick={() => void acts.copyKeys(picked)}>
          {t('coupons.copyChosen')}
        </Button>
        <Button size="small" icon="download" onClick={() => acts.download(picked)}>
          {t('coupons.downloadChosen')}
        </Button>
        <Button size="small" icon="pause" onClick={() => void disable()}>
          {t('coupons.disableChosen')}
        </Button>
      </div>
    </fieldset>
  )
}
