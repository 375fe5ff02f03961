@Info(level = 3)
package p.sub;

import p.Info;
