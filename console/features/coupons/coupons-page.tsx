import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Drawer } from '#console/ui/dialogs/drawer.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { Button, CreateButton } from '#console/ui/elements/button.tsx'
import { CopyButton } from '#console/ui/elements/copy-button.tsx'
import { adminPage } from '#console/ui/layout/admins-only-page.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import type { Redemption } from '#read-api/contract/redemptions.ts'
import { type CsvCoupon, saveCsv } from './coupon-csv.ts'
import { CouponDrawer } from './coupon-drawer.tsx'
import { CouponList } from './coupon-list.tsx'
import { DeleteByName } from './delete-by-name.tsx'
import '../../ui/forms/forms.css'
import './coupons.css'

function CouponsReady(props: { coupons: readonly CsvCoupon[] | null; onClose: () => void }) {
  const { t } = useTranslation()
  const coupons = useDialogItem(props.coupons).shown ?? []
  const keys = coupons.map(({ key }) => key)
  return (
    <Drawer
      isOpen={props.coupons !== null}
      onClose={props.onClose}
      title={t('coupons.createdTitle', { count: coupons.length })}
      lead={t('coupons.createdLead')}
      footer={
        <Button tone="primary" onClick={props.onClose}>
          {t('words.done')}
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

export const CouponsPage = adminPage('coupons.title', Coupons)

type Shown = {
  edited: Redemption | 'new' | null
  ready: readonly CsvCoupon[] | null
  isDeleting: boolean
}

const NOTHING: Shown = { edited: null, ready: null, isDeleting: false }

function Coupons() {
  const { t } = useTranslation()
  const [shown, setShown] = useState<Shown>(NOTHING)
  const show = (part: Partial<Shown>) => setShown({ ...NOTHING, ...part })
  const create = () => show({ edited: 'new' })
  const close = () => show({})
  return (
    <Page
      title={t('coupons.title')}
      lead={t('coupons.lead')}
      actions={<CreateButton text={t('coupons.create')} onClick={create} />}
    >
      <CouponList
        onCreate={create}
        onEdit={(edited) => show({ edited })}
        onDeleteByName={() => show({ isDeleting: true })}
      />
      <CouponDrawer edited={shown.edited} onClose={close} onCreated={(ready) => show({ ready })} />
      <CouponsReady coupons={shown.ready} onClose={close} />
      <DeleteByName isOpen={shown.isDeleting} onClose={close} />
    </Page>
  )
}
