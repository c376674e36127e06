import { type ReactElement, useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isAdmin } from '#console/api/session.ts'
import { useUser } from '#console/api/use-user.ts'
import { AdminsOnlyPage } from '#console/ui/admins-only-page.tsx'
import { Button } from '#console/ui/button.tsx'
import { Page } from '#console/ui/page.tsx'
import type { Redemption } from '#read-api/contract/redemption.ts'
import type { CsvCoupon } from './coupon-csv.ts'
import { CouponDrawer } from './coupon-drawer.tsx'
import { CouponList } from './coupon-list.tsx'
import { CouponsReady } from './coupons-ready.tsx'
import { DeleteByName } from './delete-by-name.tsx'
import '#console/ui/forms.css'
import './coupons.css'

/** The redemption codes of the site, for admins. */
export function CouponsPage(): ReactElement {
  const { t } = useTranslation()
  return isAdmin(useUser()) ? <Coupons /> : <AdminsOnlyPage title={t('coupons.title')} />
}

type Shown = {
  edited: Redemption | 'new' | null
  ready: readonly CsvCoupon[] | null
  isDeleting: boolean
}

const NOTHING: Shown = { edited: null, ready: null, isDeleting: false }

function Coupons(): ReactElement {
  const { t } = useTranslation()
  const [shown, setShown] = useState<Shown>(NOTHING)
  const show = useCallback((part: Partial<Shown>) => setShown({ ...NOTHING, ...part }), [])
  const create = () => show({ edited: 'new' })
  const edit = useCallback((edited: Redemption) => show({ edited }), [show])
  const close = () => show({})
  return (
    <Page
      title={t('coupons.title')}
      lead={t('coupons.lead')}
      actions={
        <Button tone="primary" icon="add" onClick={create}>
          {t('coupons.create')}
        </Button>
      }
    >
      <CouponList
        onCreate={create}
        onEdit={edit}
        onDeleteByName={() => show({ isDeleting: true })}
      />
      <CouponDrawer edited={shown.edited} onClose={close} onCreated={(ready) => show({ ready })} />
      <CouponsReady coupons={shown.ready} onClose={close} />
      <DeleteByName isOpen={shown.isDeleting} onClose={close} />
    </Page>
  )
}
