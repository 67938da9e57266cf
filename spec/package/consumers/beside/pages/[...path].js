/** A page of every path. */
export default function Page() {
  return 'page';
}
