import { type ReactElement, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { CopyButton } from '#console/ui/copy-button.tsx'
import { Drawer } from '#console/ui/drawer.tsx'
import { type CsvCoupon, saveCsv } from './coupon-csv.ts'

/** The keys of the codes that were made: to copy one by one, together, or to keep as a file. */
export function CouponsReady(props: {
  coupons: readonly CsvCoupon[] | null
  onClose: () => void
}): ReactElement {
  const { t } = useTranslation()
  const last = useRef<readonly CsvCoupon[]>([])
  if (props.coupons !== null) last.current = props.coupons
  const coupons = last.current
  const keys = coupons.map(({ key }) => key)
  return (
    <Drawer
      isOpen={props.coupons !== null}
      onClose={props.onClose}
      title={t('coupons.createdTitle', { count: coupons.length })}
      lead={t('coupons.createdLead')}
      footer={
        <Button tone="primary" onClick={props.onClose}>
          {t('coupons.done')}
        </Button>
      }
    >
      <div className="tg-actions tg-coupon-ready">
        <CopyButton text={keys.join('\n')} label={t('coupons.copyAll')}>
          {t('coupons.copyAll')}
        </CopyButton>
        <Button size="small" icon="download" onClick={() => saveCsv(coupons)}>
          {t('coupons.downloadCsv')}
        </Button>
      </div>
      <ul className="tg-ready-keys">
        {keys.map((key, at) => (
          <li key={key}>
            <code className="tg-coupon-made">{key}</code>
            <span />
            <CopyButton text={key} label={t('coupons.copyOne', { number: at + 1 })} />
          </li>
        ))}
      </ul>
    </Drawer>
  )
}
