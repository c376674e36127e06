import { request } from '../request.ts'

export const resetModelRatios = () =>
  request({ method: 'POST', path: '/api/option/rest_model_ratio' })
