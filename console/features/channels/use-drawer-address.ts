import { useDrawerAddress as useAddress } from '#console/ui/dialogs/use-drawer-address.ts'

export type { Edited } from '#console/ui/dialogs/use-drawer-address.ts'

const AT = { list: '/admin/channels', add: '/channel/add', edit: '/channel/edit' }

/** The channel whose form is open. */
export const useDrawerAddress = () => useAddress(AT)
