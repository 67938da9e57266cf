import { contract, request } from 'rxmux/contract';

export const api = contract({ me: request<void, string>() });
