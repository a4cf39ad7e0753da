import t from 'tap';
import { htmlTable, pageOf } from '#acuity/commands/page.js';

t.test('text stays text', async (t) => {
  const html = pageOf({
    title: '<b>',
    subtitle: '"&',
    sections: [{ heading: '<i>', html: htmlTable([['<td>'], ['&']]) }],
  });
  t.notMatch(html, /<b>|<i>|<td><td>/);
  t.match(html, '<title>&#60;b&#62;</title>');
  t.match(html, '<td>&#38;</td>');
});
